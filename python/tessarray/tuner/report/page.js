"use strict";
// What works without this: everything but the box that says what a point is (the browser's own does), and the buttons.

const tip = document.getElementById("tip");

for (const mark of document.querySelectorAll("g.mark")) {
  const title = mark.querySelector("title");
  if (!title) continue;
  mark.dataset.tip = title.textContent;
  title.remove();
}

function showTip(at) {
  const target = at && at.closest && at.closest("[data-tip]");
  tip.hidden = !target;
  if (!target) return;
  tip.textContent = target.dataset.tip;
  const box = target.getBoundingClientRect();
  const width = tip.offsetWidth;
  tip.style.left = `${Math.max(6, Math.min(innerWidth - width - 6, box.left + box.width / 2 - width / 2))}px`;
  tip.style.top = `${box.top - tip.offsetHeight - 7 > 4 ? box.top - tip.offsetHeight - 7 : box.bottom + 7}px`;
}

for (const name of ["mouseover", "focusin"]) document.addEventListener(name, (event) => showTip(event.target));
// A point that the keyboard reached may still be scrolled into view.
document.addEventListener("scroll", () => showTip(document.activeElement), true);
document.addEventListener("keydown", (event) => { if (event.key === "Escape") tip.hidden = true; });

for (const command of document.querySelectorAll(".command")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const text = command.querySelector("code").textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(command.querySelector("code"));
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  command.append(button);
}

const THEMES = ["", "light", "dark"];
const root = document.documentElement;
const theme = document.getElementById("theme");

function stored() {
  try { return localStorage.getItem("theme") || ""; } catch { return ""; }
}

function apply(name) {
  if (name) root.dataset.theme = name;
  else delete root.dataset.theme;
  theme.textContent = { "": "◐ Auto", light: "○ Light", dark: "● Dark" }[name];
  theme.setAttribute("aria-label", `Colours: ${name || "as the system"}. Change`);
}

theme.addEventListener("click", () => {
  const next = THEMES[(THEMES.indexOf(root.dataset.theme || "") + 1) % THEMES.length];
  try { localStorage.setItem("theme", next); } catch { /* a page from disk may have no storage */ }
  apply(next);
});
theme.hidden = false;
apply(THEMES.includes(stored()) ? stored() : "");
