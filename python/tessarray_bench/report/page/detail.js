// One cell in full: the figures, each repeat, what was stored, who verified it, and the command that does it again.

function strip(values, found, kind) {
  const width = 340;
  const low = Math.min(...values, found ? found[1] : Infinity);
  const high = Math.max(...values, found ? found[2] : -Infinity);
  const pad = (high - low) * 0.06 || high * 0.02 || 1;
  const x = (value) => 8 + ((value - low + pad) / (high - low + 2 * pad)) * (width - 16);
  const unit = unitOf(kind, high);
  return svg("svg", { viewBox: `0 0 ${width} 58`, role: "img", class: "strip",
    "aria-label": `Wall time of each repeat: ${values.map((value) => inUnit(value, unit, kind)).join(", ")}` },
    found ? svg("rect", { x: x(found[1]), y: 10, width: Math.max(1, x(found[2]) - x(found[1])), height: 22, class: "band" }) : "",
    svg("line", { x1: 8, x2: width - 8, y1: 38, y2: 38, class: "axis" }),
    found ? svg("line", { x1: x(found[0]), x2: x(found[0]), y1: 7, y2: 38, class: "median" }) : "",
    values.map((value, i) => svg("circle", { cx: x(value), cy: 15 + (i % 3) * 6, r: 4.5, class: "dot", "data-repeat": String(i), "data-tip": `repeat ${i}: ${inUnit(value, unit, kind)}` })),
    svg("text", { x: 8, y: 53, class: "tick" }, inUnit(low, unit, kind)),
    svg("text", { x: width - 8, y: 53, class: "tick", "text-anchor": "end" }, inUnit(high, unit, kind)));
}

const fact = (name, value) => (value === "" || value === null || value === undefined ? ""
  : [h("dt", {}, name), h("dd", {}, value)]);

function withInterval(found, kind) {
  if (!found) return null;
  const unit = unitOf(kind, found[0]);
  const range = interval(found[1], found[2], unit);
  return [inUnit(found[0], unit, kind), range ? h("span.soft", {}, ` (${range})`) : ""];
}

function copyButton(text) {
  return h("button", { type: "button", onclick: async (event) => {
    const button = event.currentTarget;
    try {
      await navigator.clipboard.writeText(text);
    } catch { // pages from disk may not have the clipboard
      const field = h("textarea", { readonly: true }, text);
      document.body.append(field);
      field.select();
      document.execCommand("copy");
      field.remove();
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  } }, "Copy");
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
    cell.metrics.wall ? strip(good.map((row) => row.wall), cell.metrics.wall, "seconds") : [],
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
