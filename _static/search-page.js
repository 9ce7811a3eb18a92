// What this book's search does beyond Sphinx's: a term of the glossary, a function and a heading come
// before the pages that only mention the words; excerpts are sentences, not code.
{
  const find = Search._performSearch;
  Search._performSearch = (query, ...terms) => {
    const { docnames, filenames, titles, alltitles, indexentries } = Search._index;
    const wanted = query.toLowerCase().trim();
    const words = splitQuery(wanted);
    const found = new Map();
    const add = (file, title, anchor, descr, score) => {
      const place = docnames[file] + anchor;
      if (!(found.get(place)?.[4] >= score)) {
        found.set(place, [docnames[file], title, anchor, descr, score, filenames[file]]);
      }
    };
    for (const [doc, title, anchor, descr, score] of find(query, ...terms)) {
      add(docnames.indexOf(doc), title, anchor, descr, score);
    }
    for (const [entry, places] of Object.entries(indexentries)) {
      if (!words.every((word) => entry.includes(word))) continue;
      const exact = entry === wanted ? 200 : 0;
      for (const [file, id] of places) {
        add(file, `${entry} (${titles[file]})`, `#${id}`, null, exact + 50 + (50 * wanted.length) / entry.length);
      }
    }
    for (const [title, places] of Object.entries(alltitles)) {
      const text = title.toLowerCase();
      if (!words.every((word) => text.includes(word))) continue;
      for (const [file, id] of places) {
        const exact = text.split(".").at(-1) === wanted ? 100 : 0;
        const name = titles[file] === title ? title : `${titles[file]} > ${title}`;
        const lesson = /^chapters\/\d/.test(docnames[file]) ? 20 : 0;
        add(file, name, id ? `#${id}` : "", null, exact + lesson + 20 + (20 * wanted.length) / text.length);
      }
    }
    return [...found.values()].sort(_orderResultsByScoreThenName);
  };

  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    const place = anchor ? page.getElementById(anchor.slice(1)) : null;
    const within = place?.matches("dt") ? place.nextElementSibling : (place ?? page.querySelector("article"));
    if (!within) return "";
    const unread = "pre, table, figure, .cell_output, .headerlink, .katex-html, annotation, script, style";
    for (const part of within.querySelectorAll(unread)) part.remove();
    return within.textContent.replace(/\s+/g, " ").trim();
  };

  // Excerpts are read from the pages, which file:// forbids.
  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}
