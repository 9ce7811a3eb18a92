// What script adds to the theme's pages, in place of the theme's own scripts: those bind the menu to
// a button that is hidden, and take for granted that a browser keeps what it is told.
{
  const root = document.documentElement;
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const byId = (id) => document.getElementById(id);

  // ---- light and dark: the first press always changes something, the third follows the system again
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const setMode = (mode) => {
    root.dataset.mode = mode;
    root.dataset.theme = mode === "auto" ? (dark.matches ? "dark" : "light") : mode;
    localStorage.setItem("mode", mode);
  };
  dark.addEventListener("change", () => setMode(root.dataset.mode));
  for (const button of all(".theme-switch-button")) {
    button.addEventListener("click", () => {
      const modes = dark.matches ? ["auto", "light", "dark"] : ["auto", "dark", "light"];
      setMode(modes[(modes.indexOf(root.dataset.mode) + 1) % modes.length]);
    });
  }

  // ---- dialogs: a press beside one closes it, and the focus goes back to what opened it
  const open = (dialog, button) => {
    dialog.showModal();
    dialog.addEventListener("close", () => button.focus(), { once: true });
  };
  for (const dialog of all("dialog")) {
    dialog.addEventListener("click", ({ target, clientX: x, clientY: y }) => {
      const box = dialog.getBoundingClientRect();
      const beside = x < box.left || x > box.right || y < box.top || y > box.bottom;
      if ((target === dialog && beside) || target.closest('a[href^="#"]')) dialog.close();
    });
  }

  // ---- the menu and the page's contents: columns on a wide screen, dialogs on a narrow one
  for (const [side, width] of [["primary", 960], ["secondary", 1200]]) {
    const column = byId(`pst-${side}-sidebar`);
    const dialog = byId(`pst-${side}-sidebar-modal`);
    const wide = matchMedia(`(min-width: ${width}px)`);
    const move = (from, to) => {
      to.append(...from.childNodes);
      [to.className, from.className] = [from.className, to.className];
    };
    for (const button of column ? all(`.${side}-toggle`) : []) {
      const tell = () => button.setAttribute("aria-expanded", wide.matches && !column.hidden);
      tell();
      button.addEventListener("click", () => {
        if (wide.matches) column.hidden = !column.hidden;
        else {
          move(column, dialog);
          open(dialog, button);
        }
        tell();
      });
      wide.addEventListener("change", () => {
        dialog.close();
        tell();
      });
    }
    dialog?.addEventListener("close", () => move(dialog, column));
  }

  // ---- search: its button and Ctrl+K (on a Mac ⌘K) go to the page's field, or open one
  const command = /^(Mac|iP)/.test(navigator.platform);
  if (command) for (const key of all(".kbd-shortcut__modifier")) key.textContent = "⌘";
  const dialog = byId("pst-search-dialog");
  const search = (button) => {
    const field = all("main form.bd-search input")[0];
    if (dialog.open) dialog.close();
    else if (field) field.select();
    else open(dialog, button);
  };
  for (const button of all(".search-button__button")) {
    button.addEventListener("click", () => search(button));
  }
  addEventListener("keydown", (event) => {
    const held = command ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
    if (!held || event.shiftKey || event.altKey || event.key.toLowerCase() !== "k") return;
    event.preventDefault();
    search(document.activeElement);
  });
  // ---- on paper as in the light
  addEventListener("beforeprint", () => {
    root.dataset.theme = "light";
  });
  addEventListener("afterprint", () => setMode(root.dataset.mode));

  // ---- the menu's place on the page before; else the page's own entry is in sight
  const menu = byId("pst-primary-sidebar");
  if (menu) {
    requestAnimationFrame(() => {
      const before = sessionStorage.getItem("menu");
      if (before) menu.scrollTop = before;
      else all(".current", menu).at(-1)?.scrollIntoView({ block: "nearest" });
    });
    addEventListener("pagehide", () => sessionStorage.setItem("menu", menu.scrollTop));
  }

  // ---- the place where the page is left, as a section and how far its top is; layout.html reads it
  const leave = () => {
    const places = all(".bd-article > section, .bd-article > section > section").map((part) => [
      part.id,
      part.getBoundingClientRect().top,
    ]);
    const place = places.filter(([, top]) => top < 0).at(-1);
    if (place) sessionStorage.setItem(`place ${location.pathname}`, JSON.stringify(place));
    else sessionStorage.removeItem(`place ${location.pathname}`);
  };
  addEventListener("pagehide", leave);
  document.addEventListener("visibilitychange", () => document.hidden && leave());

  // ---- the page's contents mark the heading that is being read
  const entries = all("#pst-page-toc-nav a");
  const headings = new Map(
    entries.map((entry) => [byId(decodeURIComponent(entry.hash.slice(1)))?.querySelector("h1, h2, h3, h4"), entry]),
  );
  const mark = (entry) => {
    for (const other of entries) {
      other.classList.toggle("active", other === entry);
      if (other === entry) other.setAttribute("aria-current", "true");
      else other.removeAttribute("aria-current");
    }
    for (const part of all("#pst-page-toc-nav .toc-entry")) {
      part.classList.toggle("active", part.contains(entry));
    }
  };
  const reading = new IntersectionObserver(
    (seen) => {
      const last = seen.filter((one) => one.isIntersecting).at(-1);
      if (last) mark(headings.get(last.target));
    },
    { rootMargin: "0px 0px -70% 0px" },
  );
  for (const heading of headings.keys()) if (heading) reading.observe(heading);

  // ---- what scrolls is a stop of the keyboard: sizes are read together, then written where they differ
  const scrolls = "pre, .cell_output > .output, .pst-scrollable-table-container, div.math";
  const sizes = new ResizeObserver((seen) => {
    const stops = seen.map(({ target: t }) => t.scrollWidth > t.clientWidth || t.scrollHeight > t.clientHeight);
    seen.forEach(({ target }, i) => {
      if (stops[i]) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    });
  });
  for (const part of all(scrolls)) sizes.observe(part);
  new MutationObserver((changes) => {
    for (const node of changes.flatMap((change) => [...change.addedNodes])) {
      if (node.matches?.(scrolls)) sizes.observe(node);
    }
  }).observe(document.body, { childList: true, subtree: true });

  // ---- pointing at a dimension (n, d_k, …) marks it everywhere on the page
  document.addEventListener("pointerover", (event) => {
    const mark = event.target.closest?.('[class*="dim-"]');
    const name = mark && [...mark.classList].find((c) => c.startsWith("dim-"));
    if (name) root.dataset.dim = name.slice(4);
    else if (root.dataset.dim) delete root.dataset.dim;
  });
}
