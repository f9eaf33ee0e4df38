// Takes words that are selected in a text over into the first empty field for a missed identifier.
"use strict";

const button = document.getElementById("take");
let selected = "";

function isInText(node) {
  const element = node && (node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement);
  return Boolean(element && element.closest(".reviewed .text"));
}

document.addEventListener("selectionchange", () => {
  const selection = document.getSelection();
  if (selection.isCollapsed || !isInText(selection.anchorNode) || !isInText(selection.focusNode)) {
    return;
  }
  const words = document.createElement("div");
  words.append(selection.getRangeAt(0).cloneContents());
  words.querySelectorAll(".kind").forEach((label) => label.remove());
  selected = words.textContent.trim();
});

button.addEventListener("click", () => {
  const fields = [...document.querySelectorAll("input[name='words']")];
  const field = fields.find((one) => one.value === "") || fields[fields.length - 1];
  if (selected) {
    field.value = selected.replace(/\s+/g, " ");
  }
  field.focus();
});

button.hidden = false;
