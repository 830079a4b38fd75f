// Elements, numbers in words, and the embedded data. Everything else builds on these.

// Large data are compressed: base64 of gzip.
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

const DATA = document.getElementById("data");
const PAGE = DATA.type === "application/gzip" ? await unpacked(DATA.textContent) : JSON.parse(DATA.textContent);
const $ = (id) => document.getElementById(id);

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

// h("td.figure", {title: "..."}, "text", node): an element with classes, attributes, children.
function h(what, attributes, ...children) {
  const [tag, ...classes] = what.split(".");
  const node = document.createElement(tag);
  if (classes.length) node.className = classes.join(" ");
  return fill(node, attributes, children);
}

function svg(tag, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

const unique = (values) => [...new Set(values)];
const plural = (n, one, many = one + "s") => `${n} ${n === 1 ? one : many}`;
const tuple = (numbers) => `(${numbers.join(", ")}${numbers.length === 1 ? "," : ""})`;

// Three significant digits, without an exponent.
function digits(value) {
  if (value === 0) return "0";
  const places = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value)) + 1e-9));
  return value.toFixed(Math.min(places, 6));
}

const UNITS = {
  seconds: [[1e-9, "ns"], [1e-6, "µs"], [1e-3, "ms"], [1, "s"]],
  bytes: [[1, "B"], [1e3, "kB"], [1e6, "MB"], [1e9, "GB"], [1e12, "TB"]],
  rate: [[1e3, "kB/s"], [1e6, "MB/s"], [1e9, "GB/s"]],
  ratio: [[1, "×"]],
  count: [[1, ""]],
};

// The unit in which `value` reads best: [factor, name].
function unitOf(kind, value) {
  const units = UNITS[kind];
  let best = units[0];
  for (const unit of units) if (Math.abs(value) >= unit[0] * 0.9995) best = unit;
  if (kind === "rate" && Math.abs(value) >= 1e8) best = units[2]; // 0.31 GB/s compares better than 310 MB/s
  return best;
}

function inUnit(value, [factor, name], kind) {
  if (value === null || value === undefined) return "–";
  const text = kind === "count" || (kind === "bytes" && factor === 1)
    ? String(Math.round(value)) : digits(value / factor);
  if (kind === "ratio") return text + "×";
  return name ? `${text} ${name}` : text;
}

function show(value, kind) {
  return value === null || value === undefined ? "–" : inUnit(value, unitOf(kind, value), kind);
}

// "12.1–12.6", in the unit of the figure it belongs to.
function interval(low, high, unit) {
  return low === null || low === undefined ? "" : `${digits(low / unit[0])}–${digits(high / unit[0])}`;
}

const percent = (share) => `${digits(share * 100)} %`;
