// Draws the page, and again whenever the address changes.

function drawHead() {
  const files = PAGE.sources.map(({ label, results }) => {
    const { machine } = results;
    return [label, machine.processor, machine.cores && plural(machine.cores, "core"), machine.memory && said("memory", machine.memory),
      machine.filesystem, (results.started || "").slice(0, 10)].filter(Boolean).join(" · ");
  });
  $("subtitle").replaceChildren(...files.slice(0, 3).flatMap((text, i) => (i ? [h("br"), text] : [text])),
    files.length > 3 ? ` and ${files.length - 3} more` : "");
}

// Each part is drawn again only when something that it shows has changed.
const PARTS = [
  [["file", "base"], drawSummary],
  [Object.keys(EMPTY).filter((key) => !["chart", "scale", "across", "axis", "at", "cell"].includes(key)), () => { drawFilters(); drawTable(); }],
  [["at", "cell"], markChosen],
  [["at", "cell", "base", "file"], drawDetail],
  [Object.keys(EMPTY).filter((key) => !["cell", "rows"].includes(key)), drawCharts],
];
let drawn = {};

function render() {
  for (const [keys, draw] of PARTS) if (keys.some((key) => drawn[key] !== state[key])) draw();
  drawn = { ...state };
}

function jump(id) {
  $(id).scrollIntoView();
  $(id).focus({ preventScroll: true });
}

document.addEventListener("click", (event) => {
  const goes = event.target.closest("[data-go]");
  if (goes) {
    event.preventDefault();
    jump(goes.dataset.go);
  }
  const after = event.target.closest("[data-after]");
  if (after) setTimeout(() => jump(after.dataset.after));
  const cell = event.target.closest("button.cell");
  if (cell) openCell(cell, false);
});

// A point of a chart leads to its cell.
function openPoint({ key, system }) {
  if (!key) return;
  const comparison = BY_KEY.get(key);
  const seen = chosen().includes(comparison) ? {} : { suite: comparison.suite, workload: "", layout: "", codec: "", kind: "" };
  go({ ...seen, at: key, cell: plainName(system) });
  $("detail").scrollIntoView({ block: "nearest" });
  $("detail").focus({ preventScroll: true });
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && state.cell) closeDetail();
  moveInTable(event);
});
$("filters").addEventListener("submit", (event) => event.preventDefault());
for (const name of ["popstate", "hashchange"]) addEventListener(name, () => { readState(); render(); });

readState();
drawHead();
drawMachine();
drawDownloads();
render();
