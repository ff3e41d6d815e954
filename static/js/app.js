/* What HTML and htmx cannot do alone: shortcuts, focus after a swap, toasts that end, selections. */

"use strict";

document.documentElement.dataset.js = "";

const one = (selector, from = document) => from && from.querySelector(selector);
const all = (selector) => [...document.querySelectorAll(selector)];
const on = (name, act) => document.addEventListener(name, act);

const current = one(".nav [aria-current]");
if (current) one(".nav > ul").scrollLeft = current.offsetLeft - innerWidth / 2;

/* Toasts */

function endToast(toast) {
  const held = toast.contains(document.activeElement);
  toast.remove();
  if (held) one("main").focus();
}

const fail = (kind) => {
  const template = one(`#toast-${kind}`);
  if (template) one("#toasts").replaceChildren(template.content.cloneNode(true));
};

on("animationend", (event) => {
  if (event.animationName === "countdown") endToast(event.target.closest(".toast"));
});

on("click", (event) => {
  const dismiss = event.target.closest("[data-dismiss]");
  if (dismiss) endToast(dismiss.closest(".toast"));
});

/* Selections */

function countPicks() {
  const label = one("[data-selected]");
  const count = all(".memory-pick :checked").length;
  if (label) label.textContent = label.dataset.selected.replace("%1", count);
}

on("reset", () => setTimeout(countPicks));

on("change", (event) => {
  if (event.target.closest(".memory-pick")) countPicks();
});

/* Swaps */

function focusOn(target) {
  if (!target.matches("a, button, input, textarea, select, [tabindex]")) target.tabIndex = -1;
  target.focus({ preventScroll: false });
}

on("htmx:afterSettle", (event) => {
  if (event.target.id === "results") one("#said").textContent = one("#summary").firstChild.textContent;
  const target = one("[data-focus]");
  if (!target) return;
  target.removeAttribute("data-focus");
  focusOn(target);
});

on("htmx:targetError", (event) => {
  const form = event.target.closest("form");
  if (form) form.submit();
});

["sendError", "timeout"].forEach((name) => on(`htmx:${name}`, () => fail("offline")));
on("htmx:responseError", (event) => {
  fail({ 403: "stale", 404: "gone" }[event.detail.xhr.status] || "failed");
});

/* Keyboard: single keys act only when nothing is being typed */

const row = () => document.activeElement.closest("[data-row]");

const press = (selector, from) => {
  const target = one(selector, from);
  if (target) target.click();
  return target;
};

const act = (key) => () => press(`[data-key='${key}']`, row());

function step(by) {
  const list = all("[data-row]");
  const here = list.indexOf(row());
  if (by > 0 && here === list.length - 1 && press("#more a")) return;
  const next = list[Math.min(Math.max(here + by, 0), list.length - 1)];
  if (!next) return;
  focusOn(next);
  const said = one("#said");
  const place = said.dataset.place.replace("%1", list.indexOf(next) + 1).replace("%2", list.length);
  said.textContent = here < 0 ? `${place} ${said.dataset.keys}` : place;
}

const keys = {
  "/": () => { const search = one("#q"); if (search) { search.focus(); search.select(); } },
  j: () => step(1),
  k: () => step(-1),
  ...Object.fromEntries([..."fcad"].map((key) => [key, act(key)])),
  x: () => press(".memory-pick input", row()),
  u: () => press("#toasts [data-key='u']") || act("u")(),
  n: () => press("[data-key='n']"),
  "?": () => { const help = one("#shortcuts"); if (help) help.togglePopover(); },
};

on("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const typing = event.target.closest("input:not([type=checkbox]), textarea, select");
  if (event.key === "Escape" && typing) press("[data-key='escape']", typing.closest(".memory"));
  if (typing || !Object.hasOwn(keys, event.key)) return;
  event.preventDefault();
  keys[event.key]();
});
