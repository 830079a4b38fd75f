// The filters: one select each, and a chip for every system.

const suitesOf = () => unique(COMPARISONS.map((comparison) => comparison.suite));
const suiteNow = () => (suitesOf().includes(state.suite) || state.suite === "all" ? state.suite : suitesOf()[0]);

const MATCHES = {
  file: (comparison) => state.file === "all" || comparison.file === Number(state.file),
  suite: (comparison) => suiteNow() === "all" || comparison.suite === suiteNow(),
  workload: (comparison) => !state.workload || comparison.workload === state.workload,
  layout: (comparison) => !state.layout || layoutText(workloadOf(comparison)) === state.layout,
  codec: (comparison) => !state.codec || codecText(workloadOf(comparison)) === state.codec,
  kind: (comparison) => !state.kind || kindText(workloadOf(comparison)) === state.kind,
};

// The comparisons that pass every filter but those named.
function chosen(...but) {
  const tests = Object.entries(MATCHES).filter(([name]) => !but.includes(name)).map(([, test]) => test);
  return COMPARISONS.filter((comparison) => tests.every((test) => test(comparison)));
}

function shownSystems() {
  const asked = state.systems ? state.systems.split(",") : SYSTEMS;
  return SYSTEMS.filter((name) => asked.includes(name));
}

// The comparison that charts and details are about: the one chosen, or the first that passes the filters.
function current() {
  return BY_KEY.get(state.at) || chosen().find((comparison) => !isCheck(comparison)) || chosen()[0];
}

function select(key, label, options, value, changes = {}) {
  return h("label.field", {}, h("span", {}, label),
    h("select", { name: key, onchange: (event) => go({ ...changes, [key]: event.target.value }) },
      options.map(([name, text]) => h("option", { value: name, selected: name === value }, text))));
}

function toggleSystem(name) {
  const shown = shownSystems();
  const next = SYSTEMS.filter((one) => (one === name) !== shown.includes(one));
  go({ systems: next.length === SYSTEMS.length ? "" : next.join(",") || "none" });
}

function drawFilters() {
  const some = (values, all) => [["", all], ...unique(values).map((value) => [value, value])];
  const reset = { workload: "", layout: "", codec: "", kind: "", at: "", cell: "", rows: "" };
  const files = PAGE.files.map((file, number) => [String(number), file.label]);
  if (files.length > 1) files.push(["all", "all files"]);
  const suites = suitesOf().map((name) => [name, name]);
  if (suites.length > 1) suites.push(["all", "all suites"]);
  const base = baseNow();
  const workloads = (but) => chosen(but).map(workloadOf);
  const shown = shownSystems();
  // Drawn anew, the control that was just used keeps the focus.
  const focused = document.activeElement && document.activeElement.dataset.chip || document.activeElement.name;
  $("filters").replaceChildren(
    h("div.fields", {},
      select("file", "Machine / file", files, state.file, reset),
      select("suite", "Suite", suites, suiteNow(), reset),
      select("workload", "Workload", some(chosen("workload").map((one) => one.workload), "all workloads"),
        state.workload, { at: "", cell: "" }),
      select("layout", "Layout", some(workloads("layout").map(layoutText), "any layout"), state.layout),
      select("codec", "Codec", some(workloads("codec").map(codecText), "any codec"), state.codec),
      select("kind", "Data", some(workloads("kind").map(kindText), "any data"), state.kind),
      select("metric", "Figure", METRICS.map((metric) => [metric.id, metric.name]), state.metric),
      select("base", "Baseline of ratios", SYSTEMS.map((name) => [name, titleOf(name)]), base)),
    h("div.chips", { role: "group", "aria-label": "Systems" },
      SYSTEMS.map((name) => h("button.chip", {
        type: "button", "aria-pressed": String(shown.includes(name)), "data-chip": name,
        onclick: () => toggleSystem(name),
      }, swatch(name), titleOf(name))),
      h("button.plain", { type: "button", "data-chip": "*", onclick: () => go({ systems: "" }) }, "all"),
      h("button.plain", { type: "button", "data-chip": "!", onclick: () => go({ ...EMPTY }) },
        "reset all filters")));
  for (const control of $("filters").querySelectorAll("select, button")) {
    if (focused && (control.name === focused || control.dataset.chip === focused)) control.focus();
  }
  const found = chosen();
  $("count").textContent = found.length
    ? `${plural(found.length, "comparison")} in ${plural(unique(found.map((one) => one.workload)).length, "workload")}, `
      + `${plural(shown.length, "system")}; ${metricOf(state.metric).title.toLowerCase()}, `
      + (metricOf(state.metric).better < 0 ? "lower is better." : "higher is better.")
    : "Nothing passes these filters.";
}
