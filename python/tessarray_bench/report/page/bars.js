// Bars with intervals for one comparison; what gave no figure is written out below them.

function drawBars(comparison) {
  const metric = metricOf(state.metric);
  const log = state.scale === "log";
  const systems = shownSystems();
  const again = [...comparison.cells.keys()].filter((name) => isAgain(name) && systems.includes(plainName(name)));
  const cells = [...systems, ...again].map((name) => cellOf(comparison, name));
  const shown = cells.filter((cell) => figure(cell)).sort((a, b) => metric.better * (figure(b)[0] - figure(a)[0]));
  const others = cells.filter((cell) => !figure(cell));
  return [
    shown.length ? chartOf(barsSpec(comparison, metric, shown, log), 92 + 30 * shown.length) : h("p", {}, "No system has this figure here."),
    others.length ? h("ul.without", {}, others.map((cell) => h("li", {}, swatch(cell.system), h("strong", {}, titleOf(cell.system)), " ",
      cell.status === "ok" ? h("span.soft", {}, "no such figure") : [statusMark(cell), " ", h("span.soft", {}, reasonText(cell))]))) : "",
  ];
}

function barsSpec(comparison, metric, shown, log) {
  return {
    label: `${metric.title}, ${comparison.step} of ${comparison.workload}`,
    x: { kind: metric.kind, name: metric.title, log },
    y: { kind: "count", name: "", names: shown.map((cell) => titleOf(cell.system)) },
    bands: noiseBands(comparison, metric),
    series: shown.map((cell, i) => seriesOf(cell.system, [barOf(comparison, cell, metric, i)], { bar: true })),
  };
}

function noiseBands(comparison, metric) {
  const base = comparison.cells.get(baseNow());
  const { factor, cells } = fileOf(comparison).floor;
  if (!["wall", "ratio"].includes(metric.id) || !base || !figure(base) || !cells) return [];
  const middle = figure(base)[0];
  return [{ low: middle / factor, high: middle * factor, text: `noise about ${titleOf(base.system)}` }];
}

function barOf(comparison, cell, metric, i) {
  const found = figure(cell);
  const fault = cell.untrue ? "not read back" : cell.status === "ok" ? "" : statusText(cell);
  const walls = metric.id === "wall" ? rowsOf(comparison, cell.system).filter((row) => row.status === "ok").map((row) => row.wall) : [];
  return pointOf(cell.system, comparison, {
    x: found[0], y: i, ...within(found, "left", "right"), dots: walls, label: show(found[0], metric.kind) + (fault ? ` (${fault})` : ""), strong: true,
    tip: `${titleOf(cell.system)}: ${figureText(found, metric.kind)}, ${plural(cell.n, "repeat")}${fault ? `, ${fault}` : ""}`,
  });
}
