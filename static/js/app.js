/* What HTML and htmx cannot do alone: shortcuts, focus after a swap, toasts that end, selections. */

"use strict";

const root = document.documentElement;
root.dataset.js = "";

const one = (selector, from = document) => from.querySelector(selector);
const all = (selector, from = document) => [...from.querySelectorAll(selector)];

/* Toasts */

const toasts = () => one("#toasts");

function endToast(toast) {
  const held = toast.contains(document.activeElement);
  toast.remove();
  if (held) one("main").focus();
}

function fail(kind) {
  const template = one(`#toast-${kind}`);
  if (template) toasts().replaceChildren(template.content.cloneNode(true));
}

document.addEventListener("animationend", (event) => {
  if (event.animationName !== "countdown") return;
  endToast(event.target.closest(".toast"));
});

document.addEventListener("click", (event) => {
  const dismiss = event.target.closest("[data-dismiss]");
  if (dismiss) endToast(dismiss.closest(".toast"));
});

/* Selections */

const picks = () => all(".memory-pick input");

function countPicks() {
  const count = picks().filter((pick) => pick.checked).length;
  const label = one("[data-selected]");
  if (label) label.textContent = `${count} selected`;
}

document.addEventListener("reset", () => setTimeout(countPicks));

document.addEventListener("change", (event) => {
  if (event.target.closest(".memory-pick")) countPicks();
  const form = event.target.closest("form[data-submit-on-change]");
  if (form) form.requestSubmit();
});

/* Swaps */

document.addEventListener("htmx:afterSettle", () => {
  const target = one("[data-focus]");
  if (!target) return;
  target.removeAttribute("data-focus");
  if (!target.matches("a, button, input, textarea, select, [tabindex]")) target.tabIndex = -1;
  target.focus({ preventScroll: false });
});

document.addEventListener("htmx:targetError", (event) => {
  const form = event.target.closest("form");
  if (form) form.submit();
});

document.addEventListener("htmx:sendError", () => fail("offline"));
document.addEventListener("htmx:timeout", () => fail("offline"));
document.addEventListener("htmx:responseError", (event) => {
  fail({ 403: "stale", 404: "gone" }[event.detail.xhr.status] || "failed");
});

/* Keyboard: single keys act only when nothing is being typed */

const rows = () => all(".memory[id]");

function step(by) {
  const list = rows();
  if (!list.length) return;
  const here = list.findIndex((row) => row.contains(document.activeElement));
  const row = list[Math.min(Math.max(here + by, 0), list.length - 1)];
  row.tabIndex = -1;
  row.focus();
  row.scrollIntoView({ block: "nearest" });
}

const press = (selector, from) => {
  const target = from && one(selector, from);
  if (target) target.click();
};

const keys = {
  "/": () => { const search = one("#q"); if (search) { search.focus(); search.select(); } },
  j: () => step(1),
  k: () => step(-1),
  f: () => press("[data-key='f']", document.activeElement.closest(".memory")),
  c: () => press("[data-key='c']", document.activeElement.closest(".memory")),
  x: () => press(".memory-pick input", document.activeElement.closest(".memory")),
  u: () => press("[data-key='u']", document),
  n: () => press("[data-key='n']", document),
  "?": () => { const help = one("#shortcuts"); if (help) help.open = !help.open; },
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const typing = event.target.closest("input:not([type=checkbox]), textarea, select");
  if (event.key === "Escape" && typing) {
    press("[data-key='escape']", event.target.closest(".memory, .add-memory"));
    return;
  }
  if (typing || !keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});
