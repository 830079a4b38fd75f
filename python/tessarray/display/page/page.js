// What every page has: light or dark, tips, buttons that copy commands. A change of colours is told as "colours".

const THEMES = { "": "◐ Auto", light: "○ Light", dark: "● Dark" };
const themeButton = document.getElementById("theme");
const tipBox = document.getElementById("tip");

function storedTheme() {
  try { return localStorage.getItem("theme") || ""; } catch { return ""; }
}

function applyTheme(name) {
  if (name) document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
  themeButton.textContent = THEMES[name];
  themeButton.setAttribute("aria-label", `Colours: ${name || "as the system"}. Change`);
  document.dispatchEvent(new Event("colours"));
}

themeButton.addEventListener("click", () => {
  const names = Object.keys(THEMES);
  const next = names[(names.indexOf(document.documentElement.dataset.theme || "") + 1) % names.length];
  try { localStorage.setItem("theme", next); } catch { /* a page from disk may have no storage */ }
  applyTheme(next);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => document.dispatchEvent(new Event("colours")));
themeButton.hidden = false;
applyTheme(storedTheme() in THEMES ? storedTheme() : "");

// Shows a text beside a box of the window, above it if there is room; no text hides it.
function showTip(text, box) {
  tipBox.hidden = !text;
  if (!text) return;
  tipBox.textContent = text;
  const wide = tipBox.offsetWidth;
  const above = box.top - tipBox.offsetHeight - 7;
  tipBox.style.left = `${Math.max(6, Math.min(innerWidth - wide - 6, (box.left + box.right) / 2 - wide / 2))}px`;
  tipBox.style.top = `${above > 4 ? above : box.bottom + 7}px`;
}

for (const name of ["mouseover", "focusin"]) {
  document.addEventListener(name, (event) => {
    const target = event.target.closest && event.target.closest("[data-tip]");
    if (target) showTip(target.dataset.tip, target.getBoundingClientRect());
    else if (!event.target.closest || !event.target.closest(".chart")) showTip("");
  });
}
document.addEventListener("scroll", () => showTip(""), true);
document.addEventListener("keydown", (event) => { if (event.key === "Escape") showTip(""); });

function copyButton(text) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch { // a page from disk may not have the clipboard
      const field = document.createElement("textarea");
      field.value = text;
      document.body.append(field);
      field.select();
      document.execCommand("copy");
      field.remove();
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  return button;
}

for (const command of document.querySelectorAll(".command")) command.append(copyButton(command.textContent));
