// Shows how far a job is, every five seconds while the page is in front. Without script, a link does so.
"use strict";

const EVERY_MS = 5000;
const shown = document.getElementById("progress");

async function fetchProgress() {
  const response = await fetch(location.pathname, { credentials: "same-origin" });
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  return page.getElementById("progress");
}

async function refresh() {
  if (!document.hidden) {
    try {
      const fresh = await fetchProgress();
      if (!fresh || fresh.dataset.state !== shown.dataset.state) {
        location.reload();
        return;
      }
      shown.replaceChildren(...fresh.childNodes);
    } catch {
      // The service may be there again five seconds later.
    }
  }
  setTimeout(refresh, EVERY_MS);
}

setTimeout(refresh, EVERY_MS);
