"use strict";
(() => {
  const form = document.getElementById("filters");
  const count = document.getElementById("count");
  const rows = [...document.querySelectorAll("tr[data-verdict]")];
  const texts = rows.map((row) => `${row.textContent} ${row.dataset.paper}`.toLowerCase());
  const facets = [...form.querySelectorAll("select")];
  const words = form.elements.q;
  const apply = () => {
    const sought = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, i) => {
      const fits = facets.every((f) => !f.value || row.dataset[f.name] === f.value)
        && sought.every((word) => texts[i].includes(word));
      row.hidden = !fits;
      shown += fits;
    });
    for (const list of document.querySelectorAll("[data-list]")) {
      list.hidden = !list.querySelector("tr[data-verdict]:not([hidden])");
      if (shown < rows.length) for (const fold of list.querySelectorAll("details")) fold.open = true;
    }
    count.textContent = `${shown} of ${rows.length} shown`;
  };
  const remember = () => {
    const kept = new URLSearchParams();
    for (const f of [...facets, words]) if (f.value) kept.set(f.name, f.value);
    const hash = kept.toString();
    try {
      history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
    } catch { /* a page without an address of its own cannot keep state in it */ }
  };
  const restore = () => {
    const kept = new URLSearchParams(location.hash.slice(1));
    for (const f of facets) {
      const value = kept.get(f.name) || "";
      f.value = [...f.options].some((option) => option.value === value) ? value : "";
    }
    words.value = kept.get("q") || "";
    apply();
  };
  form.addEventListener("input", () => { apply(); remember(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => { apply(); remember(); }));
  addEventListener("hashchange", restore);
  const value = (row, column) => {
    const cell = row.cells[column];
    const text = cell.dataset.value ?? cell.textContent.trim();
    const number = text === "∞" ? Infinity : parseFloat(text);
    return Number.isNaN(number) ? text.toLowerCase() : number;
  };
  const order = (a, b, sign) => {
    if ((a === "") !== (b === "")) return a === "" ? 1 : -1; // what says nothing comes last
    if (typeof a !== typeof b) return typeof a === "number" ? -sign : sign;
    return a < b ? -sign : sign * Number(a > b);
  };
  const tables = [...document.querySelectorAll("[data-list] table")]; // the second one is folded
  const room = tables.map((table) => table.tBodies[0].rows.length);
  const heads = (table) => [...table.tHead.rows[0].cells];
  for (const table of tables) {
    heads(table).forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        const all = tables.flatMap((one) => [...one.tBodies[0].rows]);
        all.sort((a, b) => order(value(a, column), value(b, column), down ? -1 : 1));
        tables.forEach((one, i) => {
          for (const other of heads(one)) other.removeAttribute("aria-sort");
          heads(one)[column].setAttribute("aria-sort", down ? "descending" : "ascending");
          one.tBodies[0].append(...all.splice(0, room[i]));
        });
      });
    });
  }
  form.hidden = false;
  restore();
})();
