// One cell in full: the figures, each repeat, what was stored, who verified it, and the command that does it again.

// Every repeat's time, the interval of their median behind them.
function strip(values, found) {
  const low = Math.min(...values, found[1] ?? Infinity);
  const high = Math.max(...values, found[2] ?? -Infinity);
  const air = (high - low) * 0.06 || high * 0.02 || 1;
  return chartOf({
    label: `Wall time of each repeat: ${values.map((value) => show(value, "seconds")).join(", ")}`,
    x: { kind: "seconds", name: "", low: Math.max(0, low - air), high: high + air }, y: { kind: "count", name: "", low: -1, high: 3, names: [""] },
    bands: found[1] === null ? [] : [{ low: found[1], high: found[2] }], guides: [{ places: [[found[0], -1], [found[0], 3]] }],
    series: [{ name: "repeats", colour: "var(--accent)", points: values.map((value, i) => ({ x: value, y: (i % 3) * 0.3 - 0.3, tip: `repeat ${i}: ${show(value, "seconds")}` })) }],
  }, 84);
}

const fact = (name, value) => (value === "" || value === null || value === undefined ? ""
  : [h("dt", {}, name), h("dd", {}, value)]);

function withInterval(found, kind) {
  if (!found) return null;
  const unit = unitOf(kind, found[0]);
  const range = interval(found[1], found[2], unit);
  return [inUnit(found[0], unit, kind), range ? h("span.soft", {}, ` (${range})`) : ""];
}

function factsText(value) {
  if (value === null) return "none";
  if (Array.isArray(value)) return tuple(value);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function latencyList(rows) {
  const with_ = rows.filter((row) => row.latency);
  if (!with_.length) return "";
  const names = Object.keys(with_[0].latency);
  return h("table.list.small", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Repeat"), names.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, with_.map((row) => h("tr", {}, h("td", {}, String(row.repeat)), names.map((name) => h("td.num", {}, show(row.latency[name], "seconds")))))));
}

function perRepeat(rows) {
  const cpu = (row) => (row.cpu_user === undefined ? null : row.cpu_user + (row.cpu_system || 0));
  const several = unique(rows.map((row) => row.source)).length > 1;
  return h("details", {}, h("summary", {}, "Every repeat"), h("div.scroll", { tabindex: "0", role: "region", "aria-label": "Every repeat" },
    h("table.list.small", {},
      h("thead", {}, h("tr", {}, ["Repeat", "Wall", "CPU", "Peak", "Read", "Written"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, h("td", {}, `${row.repeat}${several ? ` (${row.source})` : ""}`), row.status !== "ok"
        ? h("td", { colspan: "5" }, `${STATUS[row.status]}: ${row.reason || ""}`)
        : [[row.wall, "seconds"], [cpu(row), "seconds"], [row.peak, "bytes"], [row.read, "bytes"], [row.written, "bytes"]]
          .map(([value, kind]) => h("td.num", {}, show(value, kind))))))),
    latencyList(rows)));
}

function layoutFacts(cell) {
  const facts = Object.entries(cell.facts);
  if (!facts.length && !cell.differs.length) return [];
  return [h("h4", {}, "Layout, from the store's own metadata"),
    h("dl.facts", {}, facts.map(([name, value]) => fact(name, factsText(value)))),
    cell.differs.length ? h("p.differing", {}, "◇ Differs from what was asked: ", cell.differs.join("; ")) : h("p.soft", {}, "As it was asked.")];
}

function verifiedBy(comparison, cell) {
  const check = siblings(comparison).filter(isCheck).map((one) => one.cells.get(cell.system)).find(Boolean);
  if (!check) return "Not read back by another reader.";
  if (check.status !== "ok") return [statusMark(check), ` ${reasonText(check)}`];
  return `Read back in full by ${titleOf(check.reader || cell.system)}: every value equals the source.`;
}

function detailOf(comparison, cell) {
  const rows = rowsOf(comparison, cell.system);
  const system = fileOf(comparison).results.systems[plainName(cell.system)] || {};
  const base = baseNow();
  const ratio = base !== cell.system && cell.ratios[base];
  const good = rows.filter((row) => row.status === "ok" && row.wall !== undefined);
  const whole = rows.find((row) => row.total !== undefined);
  const metric = (id, name = metricOf(id).name) => fact(name, withInterval(figure(cell, id), metricOf(id).kind));
  return [
    cell.status === "ok" ? [] : h("p.reasoned", {}, statusMark(cell), ` ${reasonText(cell)}`),
    cell.metrics.wall ? strip(good.map((row) => row.wall), cell.metrics.wall) : [],
    h("dl.facts", {},
      metric("wall", "Median time"),
      fact("Interval", cell.metrics.wall && cell.metrics.wall[3] ? levelText(cell.metrics.wall) : ""),
      cell.n ? fact("Repeats", `n = ${cell.n}`) : "",
      metric("rate", "Rate"),
      ratio ? fact(`Over ${titleOf(base)}`, [withInterval(ratio, "ratio"), `: ${VERDICTS[ratio[3]]}`]) : "",
      fact("Noise floor", cell.n ? floorText(fileOf(comparison)) : ""),
      metric("p99", "p99 of calls"), metric("cpu", "CPU time"), metric("peak", "Peak memory"),
      fact("Retained", show(cell.extra.retained, "bytes").replace("–", "")),
      metric("read", "Bytes read"), metric("written", "Bytes written"),
      fact("Requests", cell.extra.requests === undefined ? "" : `${cell.extra.requests}, ${show(cell.extra.transferred, "bytes")} transferred`),
      fact("Offered", cell.extra.offered === undefined ? "" : `${cell.extra.offered} frames/s; dropped ${cell.extra.dropped || 0}`),
      metric("stored", "Stored size"),
      fact("Files", cell.files ? String(cell.files) : ""),
      whole ? fact("Whole process", `${show(whole.total, "seconds")}, import ${show(whole.import, "seconds")}`) : ""),
    layoutFacts(cell),
    h("h4", {}, "Verified"), h("p", {}, verifiedBy(comparison, cell)),
    rows.length ? perRepeat(rows) : [],
    h("h4", {}, "Versions"),
    h("p", {}, Object.entries(system.versions || {}).map(([name, version]) => `${name} ${version}`).join(", ") || "none installed",
      system.python ? `; Python ${system.python}` : "", system.environment ? `; environment ${system.environment}` : ""),
    cell.rerun ? [h("h4", {}, "Run it again"), h("div.command", {}, h("code", { id: "rerun" }, cell.rerun), copyButton(cell.rerun))] : [],
  ];
}

function drawDetail() {
  const comparison = BY_KEY.get(state.at);
  const panel = $("detail");
  const open = Boolean(comparison && state.cell);
  panel.hidden = !open;
  document.body.classList.toggle("detailed", open);
  if (!open) return;
  const cell = cellOf(comparison, state.cell);
  panel.replaceChildren(
    h("div.head", {}, h("div", {}, h("h3", {}, swatch(cell.system), titleOf(cell.system)), h("p.soft", {}, `${comparison.step} · ${comparison.workload}`)),
      h("button.close", { type: "button", "aria-label": "Close the details", onclick: closeDetail }, "✕")),
    ...detailOf(comparison, cell).flat(3).filter(Boolean));
}

function closeDetail() {
  const { at, cell } = state;
  go({ cell: "" });
  const button = cellButton(at, cell);
  if (button) button.focus();
}
