// What all charts share: a colour and a shape for each system, scales, axes, and the tooltip.

const COLOURS = 14;
const colour = (system) => `var(--c${Math.max(0, SYSTEMS.indexOf(plainName(system))) % COLOURS})`;

// Colour alone does not tell a dozen systems apart: each has a shape, too. Centred on (0, 0), about 10 across.
const SHAPES = [
  "M0-5A5 5 0 1 1 0 5A5 5 0 1 1 0-5Z", "M-4.4-4.4H4.4V4.4H-4.4Z", "M0-5.6L5.4 4.2H-5.4Z", "M0-6.2L5 0L0 6.2L-5 0Z",
  "M0 5.6L5.4-4.2H-5.4Z", "M-1.9-5.4H1.9V-1.9H5.4V1.9H1.9V5.4H-1.9V1.9H-5.4V-1.9H-1.9Z",
  "M0-5.6L5.3-1.7L3.3 4.5H-3.3L-5.3-1.7Z",
];
const shape = (system) => SHAPES[Math.max(0, SYSTEMS.indexOf(plainName(system))) % SHAPES.length];

function swatch(system) {
  return svg("svg", { viewBox: "-7 -7 14 14", class: "swatch", "aria-hidden": "true" },
    svg("path", { d: shape(system), style: `fill:${colour(system)}` }));
}

// A mark in a chart: hollow for the second run of the system that runs twice. It leads to its cell.
function mark(system, x, y, tip, comparison) {
  const style = isAgain(system) ? `fill:var(--paper);stroke:${colour(system)};stroke-width:1.5` : `fill:${colour(system)};stroke:var(--paper)`;
  return svg("g", { class: "mark", transform: `translate(${x},${y})`, tabindex: "0", role: "img", "aria-label": tip, "data-tip": tip,
    "data-key": comparison.key, "data-system": system },
    svg("circle", { r: "11", class: "hit" }), svg("path", { d: shape(system), style }));
}

function linear(low, high, from, to) {
  const scale = (value) => from + ((value - low) / (high - low || 1)) * (to - from);
  const rough = (high - low) / Math.max(2, Math.min(6, Math.abs(to - from) / 90));
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 2.5, 5, 10].find((k) => power * k >= rough * 0.999);
  scale.ticks = [];
  for (let tick = Math.ceil(low / step - 1e-9) * step; tick <= high + step * 1e-6; tick += step) scale.ticks.push(Math.abs(tick) < step * 1e-6 ? 0 : tick);
  return scale;
}

function logarithmic(low, high, from, to) {
  const scale = (value) => from + (Math.log(value / low) / Math.log(high / low || 2)) * (to - from);
  const room = Math.max(2, Math.abs(to - from) / 70);
  const decades = Math.log10(high / low);
  const steps = decades * 3 <= room ? [1, 2, 5] : decades * 2 <= room ? [1, 3] : [1];
  const every = steps.length > 1 ? 1 : Math.max(1, Math.ceil(decades / room));
  scale.ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += every) {
    for (const k of steps) {
      const tick = k * 10 ** power;
      if (tick >= low * 0.999 && tick <= high * 1.001) scale.ticks.push(tick);
    }
  }
  if (scale.ticks.length < 2) scale.ticks = [low, Math.sqrt(low * high), high];
  return scale;
}

// A scale over `values`: linear from zero, or logarithmic with some air at both ends.
function scaleOf(values, log, from, to) {
  const high = Math.max(...values);
  const positive = values.filter((value) => value > 0);
  if (!log || !positive.length) return linear(0, high * 1.04 || 1, from, to);
  const low = Math.min(...positive);
  const air = Math.max(1.12, (high / low) ** 0.05);
  return logarithmic(low / air, high * air, from, to);
}

function tickText(value, kind, ticks) {
  const unit = unitOf(kind, Math.max(...ticks) / (kind === "count" ? 1 : 3) || 1);
  const own = ticks[ticks.length - 1] / (ticks.find((tick) => tick > 0) || 1) > 900 ? unitOf(kind, value || 1) : unit;
  const text = String(Number((value / own[0]).toPrecision(3)));
  return kind === "ratio" ? text + "×" : `${text} ${value === 0 ? "" : own[1]}`.trim();
}

function axisBelow(scale, kind, top, bottom, name) {
  const [from, to] = [scale.from, scale.to];
  return svg("g", { class: "scale" },
    scale.ticks.map((tick) => [svg("line", { x1: scale(tick), x2: scale(tick), y1: top, y2: bottom, class: "grid" }),
      svg("text", { x: scale(tick), y: bottom + 16, "text-anchor": "middle", class: "tick" }, kind ? tickText(tick, kind, scale.ticks) : scale.names[tick])]),
    svg("text", { x: to === undefined ? scale.middle : (from + to) / 2, y: bottom + 36, "text-anchor": "middle", class: "name" }, name));
}

function axisLeft(scale, kind, left, right, name) {
  return svg("g", { class: "scale" },
    scale.ticks.map((tick) => [svg("line", { x1: left, x2: right, y1: scale(tick), y2: scale(tick), class: "grid" }),
      svg("text", { x: left - 7, y: scale(tick) + 4, "text-anchor": "end", class: "tick" }, tickText(tick, kind, scale.ticks))]),
    svg("text", { x: 2, y: 12, class: "name" }, name));
}

// Moves labels apart until none is nearer to the next than `gap`.
function spread(labels, gap, low, high) {
  labels.sort((a, b) => a.y - b.y);
  for (let i = 0; i < labels.length; i += 1) labels[i].at = Math.max(labels[i].y, i ? labels[i - 1].at + gap : low);
  for (let i = labels.length - 1; i >= 0; i -= 1) labels[i].at = Math.min(labels[i].at, i === labels.length - 1 ? high : labels[i + 1].at - gap);
  return labels;
}

function whisker(x, low, high, vertical = true) {
  const d = vertical ? `M${x - 3} ${low}H${x + 3}M${x} ${low}V${high}M${x - 3} ${high}H${x + 3}`
    : `M${low} ${x - 4}V${x + 4}M${low} ${x}H${high}M${high} ${x - 4}V${x + 4}`;
  return svg("path", { d, class: "whisker" });
}

function figureText(found, kind) {
  const unit = unitOf(kind, found[0]);
  const range = interval(found[1], found[2], unit);
  return inUnit(found[0], unit, kind) + (range ? ` (${levelText(found)} ${range})` : "");
}

function showTip(event) {
  const target = event.target.closest && event.target.closest("[data-tip]");
  const tip = $("tip");
  tip.hidden = !target;
  if (!target) return;
  tip.textContent = target.dataset.tip;
  const box = target.getBoundingClientRect();
  const width = tip.offsetWidth;
  tip.style.left = `${Math.max(6, Math.min(innerWidth - width - 6, box.left + box.width / 2 - width / 2))}px`;
  tip.style.top = `${box.top - tip.offsetHeight - 7 > 4 ? box.top - tip.offsetHeight - 7 : box.bottom + 7}px`;
}
