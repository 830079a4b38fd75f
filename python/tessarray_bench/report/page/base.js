// Elements and the embedded data. Everything else builds on these.

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

const unique = (values) => [...new Set(values)];
const plural = (n, one, many = one + "s") => `${n} ${n === 1 ? one : many}`;
const tuple = (numbers) => `(${numbers.join(", ")}${numbers.length === 1 ? "," : ""})`;
