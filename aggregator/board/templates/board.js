"use strict";
// Sorting for those who have script; without it the tables stand in the order of mean win rate.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    const key = (row) => row.cells[column].dataset.value;
    const text = (row) => row.cells[column].textContent.trim();
    const missing = (row) => Number(key(row)) < 0; // without a figure: last, whichever way
    const words = [...body.rows].every((row) => key(row) === undefined);
    // The first click shows the best first: the highest figure, the lowest rank, the first word.
    const first = head.dataset.first ?? (words ? "ascending" : "descending");
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      const next = now === null ? first : now === "ascending" ? "descending" : "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", next);
      const up = (a, b) => (words ? text(a).localeCompare(text(b)) : Number(key(a)) - Number(key(b)));
      const compare = (a, b) => missing(a) - missing(b) || (next === "ascending" ? up(a, b) : up(b, a));
      body.append(...[...body.rows].sort(compare));
    });
  });
}
