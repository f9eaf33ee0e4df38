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
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => row.cells[column].dataset.value;
      const compare = (a, b) =>
        key(a) === undefined
          ? a.cells[column].textContent.trim().localeCompare(b.cells[column].textContent.trim())
          : Number(key(a)) - Number(key(b));
      body.append(...[...body.rows].sort((a, b) => (down ? -compare(a, b) : compare(a, b))));
    });
  });
}
