// Where and how the runs were made: machine, settings, systems with their versions and sources, definitions.

const BYTES = ["memory", "memory_total", "disk"];

function said(name, value) {
  if (value === null || value === undefined) return "–";
  if (BYTES.includes(name) && typeof value === "number") return show(value, "bytes");
  if (typeof value === "number") return String(Number.isInteger(value) ? value : Number(value.toPrecision(5)));
  if (Array.isArray(value)) return value.map((one) => said("", one)).join(", ");
  return typeof value === "object" ? Object.entries(value).map(([key, one]) => `${key} ${said(key, one)}`).join(", ") : String(value);
}

const facts = (given) => h("dl.facts", {}, Object.entries(given).map(([name, value]) => fact(name.replaceAll("_", " "), said(name, value))));
const isWeb = (address) => /^https?:\/\//.test(address);

function systemsTable(results) {
  return h("div.scroll", { tabindex: "0", role: "region", "aria-label": "Systems" }, h("table.list", {},
    h("thead", {}, h("tr", {}, ["System", "Versions", "Python", "Environment", "Does", "Set up as its documentation says"].map((text) => h("th", { scope: "col" }, text)))),
    h("tbody", {}, Object.entries(results.systems).map(([name, one]) => h("tr", {},
      h("th", { scope: "row" }, swatch(name), one.title || name),
      h("td", {}, said("", one.versions) || "not installed"), h("td", {}, said("", one.python)), h("td", {}, said("", one.environment)), h("td", {}, said("", one.features)),
      h("td", {}, Object.entries(one.sources || {}).map(([what, where], i) => [i ? ", " : "",
        isWeb(where) ? h("a", { href: where, rel: "noreferrer noopener", target: "_blank" }, what) : `${what}: ${where}`])))))));
}

function definitions(results) {
  return h("details", {}, h("summary", {}, `Definitions of ${plural(Object.keys(results.workloads).length, "workload")}`),
    h("div.scroll", { tabindex: "0", role: "region", "aria-label": "Definitions" }, h("table.list", {},
      h("thead", {}, h("tr", {}, ["Workload", "Data, layout, codec", "Reads"].map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, Object.values(results.workloads).map((one) => h("tr", {}, h("th", { scope: "row" }, one.id), h("td", {}, workloadText(one)),
        h("td", {}, (one.queries || []).map((query) => `${query.name}: ${query.selection}${query.count > 1 ? ` × ${query.count}` : ""}${query.at_once > 1 ? `, ${query.at_once} at once` : ""}`).join("; "))))))));
}

function drawMachine() {
  $("machine-body").replaceChildren(...PAGE.sources.map(({ label, results }) => h("article.machine", {},
    PAGE.sources.length > 1 ? h("h3", {}, label) : "",
    h("div.two", {},
      h("div", {}, h("h4", {}, "Machine"), facts(results.machine)),
      h("div", {}, h("h4", {}, "Run"), facts({ started: results.started, finished: results.finished || "not finished: some cells may be missing", ...results.settings }))),
    results.command ? h("div.command", {}, h("code", {}, results.command), copyButton(results.command)) : "",
    h("h4", {}, "Systems"), systemsTable(results), definitions(results))));
}
