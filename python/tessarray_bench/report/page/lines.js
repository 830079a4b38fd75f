// Lines over the one thing in which workloads differ: datasets, workers, chunk shape, latency, readers at once, length.

const AXES = [
  { id: "n", name: "datasets", of: (work) => work.fleet && work.fleet.count, without: (work) => { if (work.fleet) work.fleet.count = 0; }, log: true },
  { id: "workers", name: "workers", of: (work) => work.workers, without: (work) => { work.workers = 0; } },
  { id: "chunks", name: "layout", of: (work) => work.layout && layoutText(work).replace("chunks ", ""), ordinal: true,
    without: (work) => { if (work.layout) { work.layout.chunks = []; work.layout.shards = null; } } },
  { id: "latency", name: "seconds of latency per request", of: (work) => work.options.latency, without: (work) => { delete work.options.latency; } },
  { id: "frames", name: "frames per call", of: (work) => work.options.frames, without: (work) => { delete work.options.frames; }, log: true },
  { id: "length", name: "length of axis 0", of: (work) => work.data && work.data.shape[0], without: (work) => { if (work.data) work.data.shape[0] = 0; }, log: true },
  { id: "at_once", name: "readers at once", of: (work, step) => (queryOf(work, step) || {}).at_once, without: () => {}, steps: true },
];
const queryOf = (work, step) => (work.queries || []).find((query) => query.name === step);

// The comparisons that differ from this one along `axis` and in nothing else, with where each stands on it.
function family(comparison, axis) {
  const rest = (one) => {
    const plain = JSON.parse(JSON.stringify({ ...workloadOf(one), id: "", queries: [] }));
    axis.without(plain);
    const query = queryOf(workloadOf(one), one.step);
    return JSON.stringify([one.file, one.process, axis.steps && query ? query.selection : one.step, plain]);
  };
  const wanted = rest(comparison);
  const found = COMPARISONS.filter((one) => one.suite === comparison.suite && one.file === comparison.file)
    .map((one) => ({ comparison: one, at: axis.of(workloadOf(one), one.step) }))
    .filter((one) => one.at !== null && one.at !== undefined && one.at !== "" && rest(one.comparison) === wanted);
  if (!axis.ordinal) found.sort((a, b) => a.at - b.at);
  return unique(found.map((one) => one.at)).length > 1 ? found : [];
}

const axesOf = (comparison) => AXES.filter((axis) => family(comparison, axis).length);

function axisNow(comparison) {
  const axes = axesOf(comparison);
  return axes.find((axis) => axis.id === state.axis) || axes[0];
}

function drawLines(comparison, width) {
  const axis = axisNow(comparison);
  if (!axis) {
    const suites = suitesOf().filter((suite) => COMPARISONS.some((one) => one.suite === suite && !isCheck(one) && axesOf(one).length));
    return h("p", {}, "This workload has no sisters that differ from it in one thing only. ",
      suites.length ? ["Suites that have: ", suites.map((suite, i) => [i ? ", " : "",
        h("a", { href: addressOf({ suite, workload: "", layout: "", codec: "", kind: "", at: firstWithAxis(suite).key, cell: "" }) }, suite)]), "."] : "");
  }
  const members = family(comparison, axis);
  const metric = metricOf(state.metric);
  const series = shownSystems().map((name) => ({ name, points: members.map(({ comparison: one, at }) => ({
    at, comparison: one, cell: cellOf(one, name), found: figure(one.cells.get(name)) })) }));
  const drawn = series.map((one) => ({ ...one, points: one.points.filter((point) => point.found) })).filter((one) => one.points.length);
  if (!drawn.length) return h("p", {}, "No system has this figure here.");
  const lost = series.flatMap((one) => one.points.filter((point) => point.cell.status !== "ok").map((point) => ({ name: one.name, ...point })));
  const charts = [panel(drawn, { width, axis, kind: metric.kind, name: metric.title, log: state.scale !== "linear" })];
  if (axis.id === "workers") charts.push(h("h4", {}, "Efficiency"), panel(efficiency(drawn), { width, axis, kind: "ratio", name: "Speed-up over the fewest workers, per worker: 1× is perfect", log: false, at: 1 }));
  return [...charts, lost.length ? h("ul.without", {}, lost.map(({ name, at, cell }) => h("li", {}, swatch(name), h("strong", {}, titleOf(name)),
    ` at ${at}: `, statusMark(cell), " ", h("span.soft", {}, reasonText(cell))))) : ""];
}

const firstWithAxis = (suite) => COMPARISONS.find((one) => one.suite === suite && !isCheck(one) && axesOf(one).length);

// From the medians: (time x workers) of the fewest workers over (time x workers).
function efficiency(drawn) {
  return drawn.map((one) => {
    const cost = (point) => point.cell.metrics.wall[0] * point.at;
    return { ...one, points: one.points.map((point) => ({ ...point, found: [cost(one.points[0]) / cost(point), null, null, null] })) };
  });
}

function panel(drawn, { width, axis, kind, name, log, at }) {
  const height = Math.max(320, Math.min(470, width * 0.46));
  const narrow = width < 560;
  const [left, right, top, bottom] = [66, width - (narrow ? 16 : 150), 28, height - 48];
  const places = unique(drawn.flatMap((one) => one.points.map((point) => point.at)));
  if (!axis.ordinal) places.sort((a, b) => a - b);
  const inset = (right - left) * 0.05;
  const spot = axis.ordinal || places.length < 2 ? (value) => left + inset + (places.indexOf(value) / Math.max(1, places.length - 1)) * (right - left - 2 * inset)
    : axis.log && places[0] > 0 ? logarithmic(places[0], places[places.length - 1], left + inset, right - inset)
      : linear(places[0], places[places.length - 1], left + inset, right - inset);
  const x = (value) => spot(value);
  [x.ticks, x.from, x.to, x.names] = [places, left, right, Object.fromEntries(places.map((value) => [value, String(value)]))];
  const values = drawn.flatMap((one) => one.points.flatMap((point) => point.found.slice(0, 3))).filter((value) => value !== null);
  const y = scaleOf(at ? [...values, at] : values, log, bottom, top);
  const ends = drawn.map((one) => ({ name: one.name, y: y(one.points[one.points.length - 1].found[0]) }));
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, class: "chart", role: "group", "aria-label": `${name} over ${axis.name}` },
    axisBelow(x, "", top, bottom, axis.name), axisLeft(y, kind, left, right, name + (log ? ", logarithmic" : "")),
    at ? svg("line", { x1: left, x2: right, y1: y(at), y2: y(at), class: "front" }) : "",
    drawn.map((one) => svg("g", {},
      svg("path", { class: "series", style: `stroke:${colour(one.name)}`, d: one.points.map((point, i) => `${i ? "L" : "M"}${x(point.at)} ${y(point.found[0])}`).join("") }),
      one.points.map((point) => [point.found[1] === null ? "" : whisker(x(point.at), y(point.found[1]), y(point.found[2])),
        mark(one.name, x(point.at), y(point.found[0]), `${titleOf(one.name)} at ${point.at}: ${figureText(point.found, kind)}`, point.comparison)]))),
    narrow ? "" : spread(ends, 15, top + 4, bottom).map((end) => svg("text", { x: right + 8, y: end.at + 4, class: "label", style: `fill:${colour(end.name)}` }, titleOf(end.name))));
}
