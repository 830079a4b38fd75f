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

function drawLines(comparison) {
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
  const charts = [panel(drawn, { axis, kind: metric.kind, name: metric.title, log: state.scale !== "linear" })];
  if (axis.id === "workers") charts.push(h("h4", {}, "Efficiency"), panel(efficiency(drawn), { axis, kind: "ratio", name: "Speed-up over the fewest workers, per worker: 1× is perfect", log: false, at: 1 }));
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

function panel(drawn, { axis, kind, name, log, at }) {
  const places = unique(drawn.flatMap((one) => one.points.map((point) => point.at)));
  if (!axis.ordinal) places.sort((a, b) => a - b);
  const spot = (value) => (axis.ordinal ? places.indexOf(value) : value);
  const ends = [places[0], places[places.length - 1]];
  return chartOf({
    label: `${name} over ${axis.name}`,
    x: axis.ordinal ? { kind: "count", name: axis.name, names: places.map(String) } : { kind: "count", name: axis.name, log: Boolean(axis.log) && places[0] > 0 },
    y: { kind, name, log },
    guides: at && !axis.ordinal ? [{ places: ends.map((end) => [end, at]) }] : [],
    series: drawn.map((one) => seriesOf(one.name, one.points.map((point, i) => pointOf(one.name, point.comparison, {
      x: spot(point.at), y: point.found[0], ...within(point.found, "low", "high"), label: i === one.points.length - 1 ? titleOf(one.name) : "",
      tip: `${titleOf(one.name)} at ${point.at}: ${figureText(point.found, kind)}` })), { line: true })),
  }, 420);
}
