"use strict";
(() => {
  const form = document.getElementById("filters");
  const count = document.getElementById("count");
  const items = [...document.querySelectorAll(".found li")];
  const texts = items.map((item) => `${item.textContent} ${item.dataset.words || ""}`.toLowerCase());
  const most = 40; // a list that a phone can scroll
  const apply = () => {
    const sought = form.elements.q.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    items.forEach((item, i) => {
      const fits = sought.length > 0 && sought.every((word) => texts[i].includes(word));
      found += fits;
      item.hidden = !fits || found > most;
    });
    const rest = found > most ? `, the first ${most} shown: add a word` : "";
    count.textContent = sought.length ? `${found} of ${items.length} found${rest}` : "Nothing is listed yet: type a word.";
  };
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.elements.q.value = new URLSearchParams(location.search).get("q") || "";
  form.hidden = false;
  apply();
})();
