// Numbers in words, as `tessarray.display.units` says them; the table of units comes from there.

const UNITS = /*units*/;
const NONE = "–";

// Three significant digits, without an exponent.
function digits(value) {
  if (value === 0 || !Number.isFinite(value)) return value === 0 ? "0" : NONE;
  const rounded = Number(value.toPrecision(3)); // first, since 9.996 has one place less than it seems
  const places = Math.min(Math.max(2 - Math.floor(Math.log10(Math.abs(rounded)) + 1e-9), 0), 9);
  return rounded.toLocaleString("en-US", { minimumFractionDigits: places, maximumFractionDigits: places });
}

// The unit in which `value` reads best: [factor, name].
function unitOf(kind, value) {
  const units = UNITS[kind];
  return units.findLast((unit) => Math.abs(value) >= unit[0] * 0.9995) || units[0];
}

function inUnit(value, [factor, name], kind) {
  if (value === null || value === undefined) return NONE;
  const whole = value === 0 || (kind === "bytes" && factor === 1) || (kind === "count" && Number.isInteger(value));
  const text = whole ? Math.round(value).toLocaleString("en-US") : digits(value / factor);
  return name === "" || name === "×" ? text + name : `${text} ${name}`;
}

function show(value, kind) {
  return value === null || value === undefined ? NONE : inUnit(value, unitOf(kind, value), kind);
}

// "12.1–12.6", in the unit of the figure it belongs to.
function interval(low, high, unit) {
  return low === null || low === undefined ? "" : `${digits(low / unit[0])}–${digits(high / unit[0])}`;
}

// A label of an axis: as short as it can be, in the unit of the axis' largest label, or, if logarithmic, in its own.
function tickText(value, kind, largest, log) {
  if (value === 0) return "0";
  const [factor, name] = unitOf(kind, log ? value : largest);
  const text = Number((value / factor).toPrecision(3)).toLocaleString("en-US", { maximumFractionDigits: 9 });
  return name === "" || name === "×" ? text + name : `${text} ${name}`;
}
