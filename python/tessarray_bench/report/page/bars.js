// Bars with intervals for one comparison; what gave no figure is written out below them.

function drawBars(comparison, width) {
  const metric = metricOf(state.metric);
  const log = state.scale === "log";
  const systems = shownSystems();
  const again = [...comparison.cells.keys()].filter((name) => isAgain(name) && systems.includes(plainName(name)));
  const cells = [...systems, ...again].map((name) => cellOf(comparison, name));
  const shown = cells.filter((cell) => figure(cell)).sort((a, b) => metric.better * (figure(b)[0] - figure(a)[0]));
  const others = cells.filter((cell) => !figure(cell));
  const left = width < 560 ? 128 : 250;
  const right = width - (width < 560 ? 70 : 96);
  const step = 30;
  const top = 26;
  const bottom = top + Math.max(1, shown.length) * step + 4;
  const walls = (cell) => (metric.id === "wall" ? rowsOf(comparison, cell.system).filter((row) => row.status === "ok").map((row) => row.wall) : []);
  const values = shown.flatMap((cell) => [...figure(cell).slice(0, 3), ...walls(cell)]).filter((value) => value !== null);
  const parts = [];
  if (shown.length) {
    const x = scaleOf(values, log, left, right);
    [x.from, x.to] = [left, right];
    parts.push(axisBelow(x, metric.kind, top, bottom, metric.title + (log ? ", logarithmic" : "")));
    parts.push(noiseBand(comparison, metric, x, top, bottom, left, right));
    shown.forEach((cell, i) => parts.push(bar(comparison, cell, { x, y: top + i * step + step / 2, left, right, log, walls: walls(cell) })));
  }
  const height = shown.length ? bottom + 44 : 0;
  return [
    shown.length ? svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, class: "chart", role: "group",
      "aria-label": `${metric.title}, ${comparison.step} of ${comparison.workload}` }, parts) : h("p", {}, "No system has this figure here."),
    others.length ? h("ul.without", {}, others.map((cell) => h("li", {}, swatch(cell.system), h("strong", {}, titleOf(cell.system)), " ",
      cell.status === "ok" ? h("span.soft", {}, "no such figure") : [statusMark(cell), " ", h("span.soft", {}, reasonText(cell))]))) : "",
  ];
}

function noiseBand(comparison, metric, x, top, bottom, left, right) {
  const base = comparison.cells.get(baseNow());
  const { factor, cells } = fileOf(comparison).floor;
  if (!["wall", "ratio"].includes(metric.id) || !base || !figure(base) || !cells) return "";
  const middle = figure(base)[0];
  const [from, to] = [middle / factor, middle * factor].map((value) => Math.min(right, Math.max(left, x(value))));
  return svg("g", {}, svg("rect", { x: from, y: top, width: Math.max(1, to - from), height: bottom - top, class: "band" }),
    svg("text", { x: Math.min(Math.max((from + to) / 2, left + 70), right - 40), y: top - 9, "text-anchor": "middle", class: "tick" }, `noise about ${titleOf(base.system)}`));
}

function bar(comparison, cell, place) {
  const { x, y, left, right, log, walls } = place;
  const kind = metricOf(state.metric).kind;
  const found = figure(cell);
  const tip = `${titleOf(cell.system)}: ${figureText(found, kind)}, ${plural(cell.n, "repeat")}${cell.status === "ok" ? "" : `, ${statusText(cell)}`}`;
  const opacity = isAgain(cell.system) ? 0.28 : 0.55;
  const name = titleOf(cell.system);
  const room = Math.floor((left - 12) / 7.4);
  return svg("g", { class: "bar-row" },
    svg("text", { x: left - 12, y: y + 4, "text-anchor": "end", class: "label" }, name.length > room ? name.slice(0, room - 1) + "…" : name),
    log ? svg("line", { x1: left, x2: x(found[0]), y1: y, y2: y, class: "grid" })
      : svg("rect", { x: left, y: y - 9, width: Math.max(1, x(found[0]) - left), height: 18, style: `fill:${colour(cell.system)};opacity:${opacity}` }),
    walls.map((value) => svg("circle", { cx: x(value), cy: y + 5.5, r: 2, class: "repeat" })),
    found[1] === null ? "" : whisker(y, x(found[1]), x(found[2]), false),
    mark(cell.system, x(found[0]), y, tip, comparison),
    svg("text", { x: right + 10, y: y + 4, class: "value" }, show(found[0], kind)),
    cell.status === "ok" && !cell.untrue ? "" : svg("text", { x: left + 6, y: y + 4, class: "warn" }, cell.untrue ? "not read back" : statusText(cell)));
}
