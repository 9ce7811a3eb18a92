// Search results show excerpts only where pages can be fetched, which file:// forbids.
// At once: the search itself starts as soon as the page is read.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
// Pointing at a dimension (n, d_k, …) marks it everywhere on the page.
document.addEventListener("pointerover", (event) => {
  const mark = event.target.closest?.('[class*="dim-"]');
  const name = mark && [...mark.classList].find((c) => c.startsWith("dim-"));
  if (name) document.documentElement.dataset.dim = name.slice(4);
  else delete document.documentElement.dataset.dim;
});
