// The service worker, at the root of the book. Python's files are kept (their folder is named after what is in
// them); all else comes from the network, and what came last is shown when there is none.
/* global SETUP */

const KEPT = "course-python";
const READ = "course-pages";

/** Python's files, and those of this edition of the course. */
const isKept = (path) => SETUP.folders.some((folder) => path.includes(`/_static/run/${folder}/`));

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("activate", (event) => {
  event.waitUntil(
    (async () => {
      const cache = await caches.open(KEPT);
      for (const old of await cache.keys()) if (!isKept(new URL(old.url).pathname)) await cache.delete(old);
      await self.clients.claim();
    })(),
  );
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const address = new URL(request.url);
  if (request.method !== "GET" || address.origin !== self.location.origin) return;
  event.respondWith(isKept(address.pathname) ? kept(event) : fresh(event));
});

async function kept(event) {
  const cache = await caches.open(KEPT);
  const found = await cache.match(event.request, { ignoreVary: true });
  if (found) return found;
  const answer = await fetch(event.request);
  keep(event, cache, answer);
  return answer;
}

async function fresh(event) {
  try {
    const answer = await fetch(event.request);
    keep(event, await caches.open(READ), answer);
    return answer;
  } catch (error) {
    const found = await caches.match(event.request, { ignoreVary: true, ignoreSearch: event.request.mode === "navigate" });
    if (found) return found;
    throw error;
  }
}

function keep(event, cache, answer) {
  if (answer.status === 200) event.waitUntil(cache.put(event.request, answer.clone()).catch(() => {}));
}
