// The table: a row for each workload x step, a column for each system, and the keys that move between its cells.

const ROWS_AT_FIRST = 120;

function cellContent(comparison, system, most) {
  const cell = cellOf(comparison, system);
  const metric = metricOf(state.metric);
  const found = figure(cell);
  const failed = cell.status !== "ok" ? statusMark(cell) : "";
  if (isCheck(comparison) && !failed) {
    const by = `by ${titleOf(cell.reader || system)}`;
    return { label: `verified ${by}`, parts: [h("span.fine", {}, "✓ verified"), h("span.reason", {}, by)] };
  }
  if (!found) {
    if (!failed) return { label: "no such figure", parts: [h("span.soft", {}, "–")] };
    return { label: `${statusText(cell)}: ${reasonText(cell)}`, parts: [failed, h("span.reason", {}, reasonText(cell))] };
  }
  const [middle, low, high] = found;
  const unit = unitOf(metric.kind, middle);
  const { level, best } = ranking(comparison);
  const first = ["wall", "rate", "ratio"].includes(metric.id) && level.includes(cell);
  const said = metric.id !== "ratio" ? "" : cell.system === baseNow() ? "baseline" : VERDICTS[verdict(cell, baseNow())];
  const lead = first ? (level.length > 1 ? `≈ fastest${cell === best ? "" : ", within noise"}` : "fastest") : "";
  const text = inUnit(middle, unit, metric.kind);
  const range = interval(low, high, unit);
  const untrue = cell.untrue ? h("span.status.wrong", {}, "not read back") : "";
  const differs = cell.differs.length ? h("span.differs", { "data-tip": cell.differs.join("\n") }, "◇") : "";
  return {
    label: [text, range && `${levelText(found)} ${range}`, plural(cell.n, "repeat"), said || lead, failed && statusText(cell),
      untrue && "not read back", differs && cell.differs.join("; ")].filter(Boolean).join(", "),
    parts: [
      h("span.line", {}, h("span.figure" + (first ? ".best" : ""), {}, text), differs),
      h("span.range", {}, range ? `${range} ` : "", h("span.n", {}, `n ${cell.n}`)),
      h("span.bar", {}, h("span", { style: `width:${most ? Math.max(0.5, (100 * middle) / most) : 0}%;background:${colour(system)}` })),
      said || lead ? h("span.verdict" + (first ? ".first" : ""), {}, said || lead) : "", failed, untrue,
    ],
  };
}

function tableRow(comparison, systems) {
  const most = Math.max(0, ...systems.map((name) => (figure(comparison.cells.get(name)) || [0])[0]));
  return h("tr", { "data-key": comparison.key },
    h("th", { scope: "row" }, h("button.step", { type: "button", tabindex: "-1", onclick: () => chart(comparison), title: "Show this step in the charts" },
      comparison.step), h("span.soft.noise", { "data-tip": "How the system that ran twice differs from itself here" }, itselfText(comparison))),
    systems.map((name) => {
      const { label, parts } = cellContent(comparison, name, most);
      return h("td", {}, h("button.cell", {
        type: "button", tabindex: "-1", "data-key": comparison.key, "data-system": name,
        "data-tip": `${titleOf(name)}: ${label}`, "aria-label": `${titleOf(name)}, ${comparison.step} of ${comparison.workload}: ${label}`,
      }, parts));
    }));
}

function chart(comparison) {
  go({ at: comparison.key, cell: "", chart: state.chart === "lines" ? "lines" : "bars" });
  $("charts").scrollIntoView();
}

function drawTable() {
  const found = chosen();
  const systems = shownSystems();
  const shown = state.rows === "all" ? found : found.slice(0, ROWS_AT_FIRST);
  const old = $("table").scrollLeft;
  const body = h("tbody");
  let before = "";
  for (const comparison of shown) {
    const place = `${comparison.file}|${comparison.workload}`;
    if (place !== before) {
      const file = state.file === "all" ? ` · ${PAGE.files[comparison.file].label}` : "";
      body.append(h("tr.group", {}, h("th", { colspan: String(systems.length + 1), scope: "rowgroup" },
        h("span.stick", {}, h("strong", {}, comparison.workload), h("span.soft", {}, ` ${workloadText(workloadOf(comparison))}${file}`)))));
      before = place;
    }
    body.append(tableRow(comparison, systems));
  }
  $("table").replaceChildren(h("table.results", {},
    h("caption.unseen", {}, "Rows are steps of workloads, columns are systems; each cell is a button that opens its details."),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Step"),
      systems.map((name) => h("th", { scope: "col" }, swatch(name), titleOf(name))))), body));
  $("table").scrollLeft = old;
  $("more").replaceChildren(found.length > shown.length
    ? h("button", { type: "button", onclick: () => go({ rows: "all" }) }, `Show all ${found.length} rows (${shown.length} shown)`) : "");
  markChosen();
}

function cellButton(key, system) {
  return [...document.querySelectorAll("button.cell")].find((one) => one.dataset.key === key && one.dataset.system === system);
}

function markChosen() {
  for (const one of document.querySelectorAll("button.cell[aria-current]")) one.removeAttribute("aria-current");
  const button = state.cell && cellButton(state.at, state.cell);
  if (button) button.setAttribute("aria-current", "true");
  const entry = button || document.querySelector("button.cell");
  if (entry) entry.tabIndex = 0;
}

function openCell(button, quiet) {
  go({ at: button.dataset.key, cell: button.dataset.system }, quiet);
}

// One cell is in the order of Tab; arrows move from there. While details are open they follow the focus.
function moveInTable(event) {
  const button = event.target.closest("button.cell");
  if (!button) return;
  const rows = [...$("table").querySelectorAll("tbody tr:not(.group)")];
  const row = button.closest("tr");
  const cells = [...row.querySelectorAll("button.cell")];
  const column = cells.indexOf(button);
  const to = {
    ArrowRight: [rows.indexOf(row), column + 1], ArrowLeft: [rows.indexOf(row), column - 1],
    ArrowDown: [rows.indexOf(row) + 1, column], ArrowUp: [rows.indexOf(row) - 1, column],
    Home: [rows.indexOf(row), 0], End: [rows.indexOf(row), cells.length - 1],
  }[event.key];
  if (!to || !rows[to[0]]) return;
  const target = rows[to[0]].querySelectorAll("button.cell")[to[1]];
  if (!target) return;
  event.preventDefault();
  button.tabIndex = -1;
  target.tabIndex = 0;
  target.focus();
  if (state.cell) {
    openCell(target, true);
    target.focus();
  }
}
