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

function drawPareto(comparison, width) {
  const points = paretoPoints(comparison);
  if (!points.length) return h("p", {}, "No system has both figures here.");
  const log = state.scale !== "linear";
  const height = Math.max(320, Math.min(500, width * 0.5));
  const [left, right, top, bottom] = [66, width - 20, 26, height - 48];
  const x = scaleOf(points.map((point) => point.cost[0]), log, left, right);
  const y = scaleOf(points.flatMap((point) => point.time.slice(0, 3)).filter((value) => value !== null), log, bottom, top);
  [x.from, x.to] = [left, right];
  const codecs = unique(points.map((point) => workloadText(workloadOf(point.comparison)))).length > 1;
  const nameOf = (point) => titleOf(point.cell.system) + (codecs ? `, ${differingText(point, points)}` : "");
  const front = onFront(points);
  const line = front.map((point, i) => (i ? `H${x(point.cost[0])}V${y(point.time[0])}` : `M${x(point.cost[0])} ${top}V${y(point.time[0])}`)).join("") + `H${right}`;
  const across = ACROSS.find(([id]) => id === state.across)[1];
  const labels = spread(front.map((point) => ({ point, y: y(point.time[0]) - 9 })), 15, top + 4, bottom - 4);
  return [
    svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, class: "chart", role: "group",
      "aria-label": `Time against ${across}, ${comparison.step}` },
      axisBelow(x, "bytes", top, bottom, across + (log ? ", logarithmic" : "")), axisLeft(y, "seconds", left, right, "time" + (log ? ", logarithmic" : "")),
      svg("path", { d: line, class: "front" }),
      points.map((point) => svg("g", { class: front.includes(point) ? "" : "behind" },
        point.time[1] === null ? "" : whisker(x(point.cost[0]), y(point.time[1]), y(point.time[2])),
        mark(point.cell.system, x(point.cost[0]), y(point.time[0]),
          `${nameOf(point)}: ${figureText(point.time, "seconds")}, ${show(point.cost[0], "bytes")}`, point.comparison))),
      width < 560 ? "" : labels.map(({ point, at }) => {
        const end = x(point.cost[0]) > right - 220;
        return svg("text", { x: x(point.cost[0]) + (end ? -12 : 12), y: at, "text-anchor": end ? "end" : "start", class: "label halo" }, nameOf(point));
      })),
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
