/* Keys for a conversation. Without this script everything is there as links. */
"use strict";
(() => {
  const OFF = "memory-keys-off";
  const messages = [...document.querySelectorAll("article.mem-message")];
  const sheet = document.getElementById("mem-keys");
  const tools = document.querySelector("[data-mem-tools]");
  const unfold = document.querySelector("[data-mem-unfold]");
  const off = document.querySelector("[data-mem-keys-off]");

  const go = (message) => {
    message.focus({ preventScroll: true });
    message.scrollIntoView({ block: "start" });
  };
  const step = (by) => {
    const at = messages.findIndex((message) => message.contains(document.activeElement));
    // From nowhere, to the first one on the screen.
    const from = at < 0 ? messages.findIndex((message) => message.getBoundingClientRect().bottom > 0) - by : at;
    const next = messages[Math.min(Math.max(from + by, 0), messages.length - 1)];
    if (next) {
      go(next);
    }
  };
  const follow = (selector, root = document) => root.querySelector(selector)?.click();
  const keys = {
    j: () => step(1),
    k: () => step(-1),
    o: () => follow("a[rel=prev]"),
    n: () => follow("a[rel=next]"),
    p: () => {
      const message = document.activeElement.closest?.("article.mem-message");
      if (message) {
        follow("[data-mem-permalink]", message);
      }
    },
    "/": () => document.getElementById("mem-search-q")?.focus(),
    "?": () => sheet.showModal(),
  };

  tools.hidden = false;
  document.querySelector("[data-mem-help]").addEventListener("click", () => sheet.showModal());
  unfold.addEventListener("click", () => {
    const open = unfold.getAttribute("aria-pressed") !== "true";
    unfold.setAttribute("aria-pressed", String(open));
    for (const details of document.querySelectorAll(".mem-message details")) {
      details.open = open;
    }
  });
  // A browser may refuse to keep anything.
  const kept = (act) => {
    try {
      return act(localStorage);
    } catch {
      return null;
    }
  };
  off.checked = kept((store) => store.getItem(OFF)) === "1";
  off.addEventListener("change", () => kept((store) => store.setItem(OFF, off.checked ? "1" : "0")));
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, textarea, select, [contenteditable], dialog");
    if (typing || off.checked || event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) {
      return;
    }
    event.preventDefault();
    keys[event.key]();
  });

  const focus = document.querySelector("[data-mem-focus]");
  if (focus) {
    go(focus);
  } else if (messages.length && (!location.search || new URLSearchParams(location.search).has("before"))) {
    // At the newest message, and on an older page at the one before those that were read.
    messages.at(-1).scrollIntoView({ block: "end" });
  }
})();
