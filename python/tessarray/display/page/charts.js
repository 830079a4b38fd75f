// Charts of a page, drawn from what `tessarray.display.charts` describes, with the vendored Chart.js (`Chart`). Chart.js has
// the scales, the axes, the hit tests and the resizing; below are marks with shapes, whiskers, bars, labels and guides.

// Centred on (0, 0), about 10 across: colour alone does not tell a dozen series apart.
const MARKS = {
  circle: "M0-5A5 5 0 1 1 0 5A5 5 0 1 1 0-5Z", square: "M-4.4-4.4H4.4V4.4H-4.4Z", triangle: "M0-5.6L5.4 4.2H-5.4Z",
  diamond: "M0-6.2L5 0L0 6.2L-5 0Z", down: "M0 5.6L5.4-4.2H-5.4Z", pentagon: "M0-5.6L5.3-1.7L3.3 4.5H-3.3L-5.3-1.7Z",
  cross: "M-1.9-5.4H1.9V-1.9H5.4V1.9H1.9V5.4H-1.9V1.9H-5.4V-1.9H-1.9Z",
  star: "M0-8L2.2-2.9L7.6-2.5L3.5 1.1L4.8 6.5L0 3.6L-4.8 6.5L-3.5 1.1L-7.6-2.5L-2.2-2.9Z",
};
const SHAPES = ["circle", "square", "triangle", "diamond", "down", "cross", "pentagon"];
const FONT = { size: 12, family: getComputedStyle(document.body).fontFamily };
const NARROW = 560;
const LIVE = new Map(); // element -> its chart, and how it was asked for

// A CSS colour, `var(--c0)` too, as the canvas needs it.
function resolved(colour) {
  const probe = document.createElement("i");
  probe.style.color = colour;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

// The ends of an axis over values: from zero, or logarithmic with some air at both ends.
function endsOf(axis, values) {
  if (axis.names) return [-0.5, axis.names.length - 0.5];
  const found = values.filter((value) => value !== undefined && value !== null && (value > 0 || !axis.log));
  const [least, most] = [Math.min(...found, Infinity), Math.max(...found, -Infinity)];
  if (!found.length) return axis.log ? [0.1, 10] : [0, 1];
  const air = Math.max(1.12, (most / least) ** 0.05);
  const ends = axis.log ? [least / air, most * air] : [Math.min(0, least), most * 1.05 || 1];
  return [axis.low ?? ends[0], axis.high ?? ends[1]];
}

// Readable ticks: 1, 2, 5 (or fewer) of each decade if logarithmic, else steps of 1, 2, 2.5 or 5.
function ticksOf(axis, low, high, pixels, each) {
  if (axis.names) return axis.names.map((_, i) => i);
  const room = Math.max(2, pixels / each);
  const even = (most) => {
    const rough = (high - low) / Math.max(2, Math.min(6, most));
    const power = 10 ** Math.floor(Math.log10(rough));
    let step = power * [1, 2, 2.5, 5, 10].find((k) => power * k >= rough * 0.999);
    if (axis.kind === "count") step = Math.max(1, Math.ceil(step));
    const first = Math.ceil(low / step - 1e-9);
    return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
  };
  if (!axis.log) return even(room);
  const decades = Math.log10(high / low);
  const steps = decades * 3 <= room ? [1, 2, 5] : decades * 2 <= room ? [1, 3] : [1];
  const every = steps.length > 1 ? 1 : Math.max(1, Math.ceil(decades / room));
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += every) ticks.push(...steps.map((k) => k * 10 ** power));
  const kept = ticks.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
  return kept.length > 2 || decades > 1.3 ? kept : even(room).filter((tick) => tick > 0);
}

function scaleOf(axis, values, colours, along, wide) {
  const [min, max] = endsOf(axis, values);
  const most = wide ? 60 : 15;
  const short = (text) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
  return {
    type: axis.log && !axis.names ? "logarithmic" : "linear", min, max, reverse: Boolean(axis.names) && along === "y",
    title: { display: Boolean(axis.name), text: axis.name + (axis.log && !axis.names ? ", logarithmic" : ""), color: colours.soft, font: FONT },
    grid: { color: colours.line, drawTicks: false, display: !(axis.names && along === "y") }, border: { display: false },
    ticks: {
      color: axis.names ? colours.ink : colours.soft, font: FONT, padding: 6, autoSkip: false, maxRotation: along === "x" && axis.names ? 40 : 0,
      callback: (value) => (axis.names ? short(axis.names[value] ?? "") : tickText(value, axis.kind, max, axis.log)),
    },
    afterBuildTicks: (scale) => {
      const pixels = along === "x" ? scale.chart.width - 90 : scale.chart.height - 70;
      scale.ticks = ticksOf(axis, min, max, pixels, along === "x" ? 80 : 55).map((value) => ({ value }));
    },
  };
}

// Moves labels apart until none is nearer to the next than `gap`, of those that stand one above the other.
function spread(labels, gap, low, high) {
  const columns = [];
  for (const label of [...labels].sort((a, b) => a.x - b.x)) {
    const last = columns[columns.length - 1];
    if (last && label.x - last[0].x < 150) last.push(label);
    else columns.push([label]);
  }
  for (const column of columns) {
    column.sort((a, b) => a.y - b.y);
    column.forEach((label, i) => { label.at = Math.max(label.y, i ? column[i - 1].at + gap : low); });
    for (let i = column.length - 1; i >= 0; i -= 1) column[i].at = Math.min(column[i].at, i === column.length - 1 ? high : column[i + 1].at - gap);
  }
  return labels;
}

function strokePath(ctx, places, style, width, dash = []) {
  ctx.beginPath();
  places.forEach(([x, y], i) => (i ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
  Object.assign(ctx, { strokeStyle: style, lineWidth: width });
  ctx.setLineDash(dash);
  ctx.stroke();
  ctx.setLineDash([]);
}

// From low to high along one axis, with ends.
function whisker(ctx, low, high, across, vertical, style) {
  const at = (along, off) => (vertical ? [across + off, along] : [along, across + off]);
  for (const [from, to] of [[at(low, 0), at(high, 0)], [at(low, -3), at(low, 3)], [at(high, -3), at(high, 3)]]) strokePath(ctx, [from, to], style, 1.4);
}

function drawBelow(chart, spec, colours) {
  const { ctx, chartArea: area, scales: { x, y } } = chart;
  const inside = (value) => Math.min(area.right, Math.max(area.left, x.getPixelForValue(value)));
  for (const band of spec.bands || []) {
    const [from, to] = [inside(band.low), inside(band.high)];
    ctx.fillStyle = colours.band;
    ctx.fillRect(from, area.top, Math.max(1, to - from), area.bottom - area.top);
    Object.assign(ctx, { fillStyle: colours.soft, font: `12px ${FONT.family}`, textAlign: "center" });
    if (band.text) ctx.fillText(band.text, Math.min(Math.max((from + to) / 2, area.left + 70), area.right - 70), area.top - 5);
  }
  ctx.save();
  ctx.beginPath();
  ctx.rect(area.left, area.top, area.right - area.left, area.bottom - area.top);
  ctx.clip();
  for (const guide of spec.guides || []) {
    const places = guide.places.map(([a, b]) => [x.getPixelForValue(a), y.getPixelForValue(b)]);
    strokePath(ctx, places, colours.soft, guide.solid ? 1 : 1.4, guide.solid ? [] : [5, 4]);
  }
  ctx.restore();
}

function drawMarks(chart, spec, colours) {
  const { ctx, chartArea: area, scales: { x, y } } = chart;
  const labels = [];
  spec.series.forEach((series, number) => series.points.forEach((point, i) => {
    const { x: px, y: py } = chart.getDatasetMeta(number).data[i];
    const colour = resolved(point.colour || series.colour);
    ctx.save();
    if (series.bar && x.type === "linear") {
      Object.assign(ctx, { fillStyle: colour, globalAlpha: point.hollow ? 0.28 : 0.55 });
      ctx.fillRect(area.left, py - 9, Math.max(1, px - area.left), 18);
    }
    ctx.globalAlpha = series.faint ? 0.7 : 1;
    if (point.low !== undefined && point.low < point.high) whisker(ctx, y.getPixelForValue(point.low), y.getPixelForValue(point.high), px, true, colours.ink);
    if (point.left !== undefined && point.left < point.right) whisker(ctx, x.getPixelForValue(point.left), x.getPixelForValue(point.right), py, false, colours.ink);
    for (const dot of point.dots || []) {
      ctx.beginPath();
      ctx.arc(x.getPixelForValue(dot), py + 5.5, 2, 0, 7);
      Object.assign(ctx, { fillStyle: colours.soft });
      ctx.fill();
    }
    ctx.translate(px, py);
    const path = new Path2D(MARKS[point.shape || series.shape || "circle"]);
    Object.assign(ctx, { fillStyle: point.hollow ? colours.paper : colour, strokeStyle: point.hollow ? colour : colours.paper, lineWidth: point.hollow ? 1.8 : 0.8 });
    ctx.fill(path);
    ctx.stroke(path);
    ctx.restore();
    if (point.label && (point.strong || series.bar || chart.width > NARROW)) labels.push({ point, series, colour, x: px, y: py });
  }));
  const room = area.right - 8;
  for (const label of spec.series.some((one) => one.bar) ? labels.map((one) => ({ ...one, at: one.y })) : spread(labels, 15, area.top + 8, area.bottom - 6)) {
    Object.assign(ctx, { font: `${label.point.strong ? "700 " : ""}13px ${FONT.family}`, textBaseline: "middle", lineWidth: 3.5, strokeStyle: colours.paper,
      fillStyle: label.series.line ? label.colour : colours.ink });
    const end = !label.series.bar && label.x + 11 + ctx.measureText(label.point.label).width > room + (spec.rightSide || 0);
    ctx.textAlign = end ? "right" : "left";
    const at = label.series.bar ? area.right + 10 : label.x + (end ? -11 : 11);
    ctx.strokeText(label.point.label, at, label.at);
    ctx.fillText(label.point.label, at, label.at);
  }
  ctx.textBaseline = "alphabetic";
}

function configOf(spec, holder, tell) {
  const named = (name) => resolved(`var(--${name})`);
  const colours = Object.fromEntries(["ink", "soft", "line", "paper", "band"].map((name) => [name, named(name)]));
  const points = spec.series.flatMap((series) => series.points);
  const guides = (spec.guides || []).flatMap((guide) => guide.places);
  const bars = spec.series.some((series) => series.bar);
  const wide = holder.clientWidth > NARROW;
  const widest = Math.max(0, ...points.map((point) => (point.label || "").length)) * 7 + 16;
  spec.rightSide = bars ? 84 : wide && spec.series.some((one) => one.line && one.points.some((point) => point.label)) ? Math.min(widest, 170) : 0;
  return {
    type: "scatter",
    data: { datasets: spec.series.map((series) => ({
      data: series.points.map(({ x, y }) => ({ x, y })), showLine: Boolean(series.line), borderColor: resolved(series.colour), borderWidth: 2,
      pointRadius: 6, pointHitRadius: 8, pointStyle: false, clip: 8,
    })) },
    options: {
      animation: false, responsive: true, maintainAspectRatio: false, events: ["mousemove", "mouseout", "click"],
      layout: { padding: { top: (spec.bands || []).some((band) => band.text) ? 20 : 8, right: spec.rightSide || 14 } },
      interaction: { mode: "nearest", intersect: true },
      onHover: (_, found) => tell(found[0]),
      onClick: (_, found) => { if (found[0]) tell(found[0], true); },
      plugins: { legend: { display: false }, tooltip: { enabled: false } },
      scales: {
        x: scaleOf(spec.x, [...points.flatMap((point) => [point.x, point.left, point.right, ...(point.dots || [])]), ...guides.map(([x]) => x)], colours, "x", wide),
        y: scaleOf(spec.y, [...points.flatMap((point) => [point.y, point.low, point.high]), ...guides.map(([, y]) => y)], colours, "y", wide),
      },
    },
    plugins: [{ beforeDatasetsDraw: (chart) => drawBelow(chart, spec, colours), afterDatasetsDraw: (chart) => drawMarks(chart, spec, colours) }],
  };
}

// The mark of a series as an element, for legends and tables.
function markIcon(shape, colour) {
  const make = (name, given) => Object.entries(given).reduce((node, [key, value]) => { node.setAttribute(key, value); return node; },
    document.createElementNS("http://www.w3.org/2000/svg", name));
  const icon = make("svg", { viewBox: "-7 -7 14 14", class: "swatch", "aria-hidden": "true" });
  icon.append(make("path", { d: MARKS[shape], style: `fill:${colour}` }));
  return icon;
}

// Draws a chart into an element of a set height; `pick(point)` is called when a point is clicked or chosen by Enter. Each
// point is a button inside the canvas, so that the keyboard and screen readers reach it.
function drawChart(holder, given, pick) {
  const fits = (point) => [[given.x, point.x], [given.y, point.y]].every(([axis, at]) => !axis.log || at > 0);
  const spec = { ...given, series: given.series.map((series) => ({ ...series, points: series.points.filter(fits) })) };
  for (const [old, { chart }] of [...LIVE]) {
    if (old === holder || !old.isConnected) { chart.destroy(); LIVE.delete(old); }
  }
  const canvas = document.createElement("canvas");
  canvas.setAttribute("role", "group");
  canvas.setAttribute("aria-label", spec.label);
  holder.replaceChildren(canvas);
  let chart = null;
  const tell = (found, chosen = false) => {
    if (!found) { showTip(""); canvas.style.cursor = ""; return; }
    const point = spec.series[found.datasetIndex].points[found.index];
    const place = chart.getDatasetMeta(found.datasetIndex).data[found.index];
    const box = canvas.getBoundingClientRect();
    const [x, y] = [box.left + place.x, box.top + place.y];
    if (chosen && pick) { showTip(""); pick(point); return; }
    if (pick) canvas.style.cursor = "pointer";
    showTip(point.tip, { left: x - 8, right: x + 8, top: y - 8, bottom: y + 8 });
  };
  spec.series.forEach((series, datasetIndex) => series.points.forEach((point, index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = point.tip;
    button.addEventListener("focus", () => tell({ datasetIndex, index }));
    button.addEventListener("blur", () => showTip(""));
    button.addEventListener("click", () => tell({ datasetIndex, index }, true));
    canvas.append(button);
  }));
  chart = new Chart(canvas, configOf(spec, holder, tell));
  canvas.addEventListener("mouseout", () => showTip(""));
  LIVE.set(holder, { chart, spec, pick });
  return chart;
}

document.addEventListener("colours", () => {
  for (const [holder, { spec, pick }] of [...LIVE]) if (holder.isConnected) drawChart(holder, spec, pick);
});

for (const holder of document.querySelectorAll(".chart")) {
  const given = holder.querySelector("script");
  if (given) drawChart(holder, JSON.parse(given.textContent));
}
