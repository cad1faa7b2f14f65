"use strict";
(() => {
  const form = document.getElementById("filters");
  const count = document.getElementById("count");
  const items = [...document.querySelectorAll(".found li")];
  const texts = items.map((item) => `${item.textContent} ${item.dataset.words || ""}`.toLowerCase());
  const apply = () => {
    const sought = form.elements.q.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    items.forEach((item, i) => {
      item.hidden = !sought.every((word) => texts[i].includes(word));
      shown += !item.hidden;
    });
    count.textContent = `${shown} of ${items.length} shown`;
  };
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  apply();
})();
