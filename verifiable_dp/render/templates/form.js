"use strict";
(() => {
  const form = document.getElementById("answers");
  const shown = document.getElementById("toml");
  const text = (value) => JSON.stringify(value).replace(/\u007f/g, "\\u007f");
  const written = {
    text: (value) => text(value.trim()),
    day: (value) => text(value.trim()),
    choice: text,
    yes: (value) => value,
    number: (value) => value,
    list: (value) => `[${value.split("\n").map((line) => line.trim()).filter(Boolean).map(text).join(", ")}]`,
  };
  const answer = (field) => (field.value.trim() ? written[field.dataset.kind](field.value) : "");
  const pair = (field) => (answer(field) ? `${field.dataset.key} = ${answer(field)}` : "");
  const rows = (question) => {
    const found = [...question.querySelectorAll(".row")]
      .map((row) => [...row.querySelectorAll("[data-kind]")].map(pair).filter(Boolean).join(", "))
      .filter(Boolean).map((row) => `{ ${row} }`);
    return found.length || question.querySelector(".none").checked ? `[${found.join(", ")}]` : "";
  };
  const line = (field) => {
    if (field.dataset.kind !== "rows") return pair(field);
    return rows(field) ? `${field.dataset.key} = ${rows(field)}` : "";
  };
  const write = () => {
    let count = 0;
    const parts = [...form.querySelectorAll("[data-table]")].map((table) => {
      const fields = [...table.querySelectorAll("[data-kind]")].filter((field) => !field.closest(".row"));
      const lines = fields.map(line).filter(Boolean);
      count += lines.length;
      const head = table.dataset.table ? [`[${table.dataset.table}]`] : [];
      return lines.length ? [...head, ...lines].join("\n") : "";
    });
    shown.textContent = parts.filter(Boolean).map((part) => `${part}\n`).join("\n");
    document.getElementById("count").textContent = `${count} answer${count === 1 ? "" : "s"}.`;
  };
  for (const add of form.querySelectorAll(".add")) {
    add.addEventListener("click", () => {
      const question = add.closest("fieldset");
      const row = question.querySelector("template").content.cloneNode(true);
      question.querySelector(".rows").append(row);
      question.querySelector(".row:last-child [data-kind]").focus();
      write();
    });
  }
  form.addEventListener("input", write);
  form.addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("save").addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([shown.textContent], { type: "application/toml" }));
    link.download = "declarations.toml";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  write();
})();
