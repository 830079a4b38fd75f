// What all charts share: a colour and a shape for each system, points that lead to their cells.

const place = (system) => Math.max(0, SYSTEMS.indexOf(plainName(system)));
const colour = (system) => `var(--c${place(system) % 14})`;
// When colours come again, they have another shape.
const shape = (system) => SHAPES[(place(system) + 3 * Math.floor(place(system) / 14)) % SHAPES.length];
const swatch = (system) => markIcon(shape(system), colour(system));

function figureText(found, kind) {
  const unit = unitOf(kind, found[0]);
  const range = interval(found[1], found[2], unit);
  return inUnit(found[0], unit, kind) + (range ? ` (${levelText(found)} ${range})` : "");
}

// [low, high] of a figure under names of an axis, or nothing.
const within = (found, low, high) => (found[1] === null ? {} : { [low]: found[1], [high]: found[2] });

// A system's series; points are hollow for the second run of the system that runs twice.
const seriesOf = (system, points, more = {}) => ({ name: titleOf(system), colour: colour(system), shape: shape(system), points, ...more });
const pointOf = (system, comparison, given) => ({ system, key: comparison.key, hollow: isAgain(system), ...given });

// The element of a chart; it is drawn once it stands in the page.
function chartOf(spec, height) {
  const holder = h("div.chart", { style: `height:${height}px` });
  setTimeout(() => { if (holder.isConnected) drawChart(holder, spec, openPoint); });
  return holder;
}
