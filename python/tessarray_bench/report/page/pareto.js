// Time against what it costs in bytes: no single winner, but a front of systems and codecs that nothing beats in both.

const ACROSS = [["stored", "stored size"], ["read", "bytes read"], ["peak", "peak memory"]];

// All layouts and codecs of the same data, in the same step, that pass the filters.
function paretoPoints(comparison) {
  const same = (one) => JSON.stringify([one.data, one.fleet, one.options]);
  const wanted = same(workloadOf(comparison));
  const systems = shownSystems();
  return chosen("workload").filter((one) => one.file === comparison.file && one.step === comparison.step && same(workloadOf(one)) === wanted)
    .flatMap((one) => systems.map((name) => ({ comparison: one, cell: one.cells.get(name) })))
    .filter(({ cell }) => cell && cell.ranks && figure(cell, "wall") && figure(cell, state.across))
    .map((point) => ({ ...point, time: figure(point.cell, "wall"), cost: figure(point.cell, state.across) }));
}

// A point is on the front if no other is at least as good in both and better in one.
function onFront(points) {
  return points.filter((a) => !points.some((b) => b.time[0] <= a.time[0] && b.cost[0] <= a.cost[0]
    && (b.time[0] < a.time[0] || b.cost[0] < a.cost[0]))).sort((a, b) => a.cost[0] - b.cost[0]);
}

function drawPareto(comparison) {
  const points = paretoPoints(comparison);
  if (!points.length) return h("p", {}, "No system has both figures here.");
  const log = state.scale !== "linear";
  const codecs = unique(points.map((point) => workloadText(workloadOf(point.comparison)))).length > 1;
  const nameOf = (point) => titleOf(point.cell.system) + (codecs ? `, ${differingText(point, points)}` : "");
  const front = onFront(points);
  const across = ACROSS.find(([id]) => id === state.across)[1];
  const steps = front.flatMap(({ cost, time }, i) => (i ? [[cost[0], front[i - 1].time[0]], [cost[0], time[0]]] : [[cost[0], time[0]]]));
  const drawnOf = (point) => pointOf(point.cell.system, point.comparison, {
    x: point.cost[0], y: point.time[0], ...within(point.time, "low", "high"), label: front.includes(point) ? nameOf(point) : "",
    tip: `${nameOf(point)}: ${figureText(point.time, "seconds")}, ${show(point.cost[0], "bytes")}` });
  const seriesFor = (some, faint) => unique(some.map((point) => point.cell.system))
    .map((name) => seriesOf(name, some.filter((point) => point.cell.system === name).map(drawnOf), { faint }));
  return [
    chartOf({
      label: `Time against ${across}, ${comparison.step}`,
      x: { kind: "bytes", name: across, log }, y: { kind: "seconds", name: "time", log }, guides: [{ places: steps }],
      series: [...seriesFor(points.filter((point) => !front.includes(point)), true), ...seriesFor(front, false)],
    }, 460),
    h("p.soft", {}, "Lower and further left is better. On the front, which nothing beats in both: ",
      listed(front.map((point) => `${nameOf(point)} (${show(point.time[0], "seconds")}, ${show(point.cost[0], "bytes")})`)), "."),
  ];
}

// What tells a point's workload from the others in the chart.
function differingText(point, points) {
  const parts = [(one) => codecText(one), (one) => layoutText(one), (one) => (one.workers ? plural(one.workers, "worker") : "")];
  return parts.filter((part) => unique(points.map((one) => part(workloadOf(one.comparison)))).length > 1)
    .map((part) => part(workloadOf(point.comparison))).filter(Boolean).join(", ");
}
