// Which chart, of which comparison, on which scale.

const CHARTS = [["bars", "Bars"], ["pareto", "Time against size"], ["lines", "Lines"]];
const DRAW = { bars: drawBars, pareto: drawPareto, lines: drawLines };

function drawCharts() {
  const comparison = current();
  if (!comparison) {
    $("chart-controls").replaceChildren();
    $("chart").replaceChildren(h("p", {}, "Nothing passes the filters."));
    return;
  }
  const kind = DRAW[state.chart] ? state.chart : "bars";
  const workloads = unique([comparison, ...chosen()].filter((one) => one.file === comparison.file).map((one) => one.workload));
  const steps = siblings(comparison).filter((one) => !isCheck(one));
  const other = (workload) => {
    const found = OF_WORKLOAD.get(`${comparison.file}|${workload}`);
    return (found.find((one) => one.step === comparison.step) || found[0]).key;
  };
  const log = state.scale || (kind === "bars" ? "linear" : "log");
  const focused = document.activeElement && $("chart-controls").contains(document.activeElement) ? document.activeElement.name : "";
  const pick = (name, label, options, value, act) => h("label.field", {}, h("span", {}, label),
    h("select", { name, onchange: (event) => go(act(event.target.value)) }, options.map(([id, text]) => h("option", { value: id, selected: id === value }, text))));
  const axis = kind === "lines" && axisNow(comparison);
  $("chart-controls").replaceChildren(
    h("div.tabs", { role: "group", "aria-label": "Kind of chart" }, CHARTS.map(([id, text]) => h("button", {
      type: "button", name: `chart-${id}`, "aria-pressed": String(id === kind), onclick: () => go({ chart: id, scale: "" }) }, text))),
    h("div.fields", {},
      pick("chart-workload", "Workload", workloads.map((name) => [name, name]), comparison.workload, (name) => ({ at: other(name), cell: "" })),
      pick("chart-step", "Step", steps.map((one) => [one.key, one.step]), comparison.key, (key) => ({ at: key, cell: "" })),
      kind === "pareto" ? pick("chart-across", "Across", ACROSS, state.across, (id) => ({ across: id })) : "",
      axis ? pick("chart-axis", "Over", axesOf(comparison).map((one) => [one.id, one.name]), axis.id, (id) => ({ axis: id })) : "",
      pick("chart-scale", "Scale", [["linear", "linear, from zero"], ["log", "logarithmic"]], log, (id) => ({ scale: id }))));
  if (focused) $("chart-controls").querySelector(`[name="${focused}"]`)?.focus();
  $("chart").replaceChildren(
    h("figcaption", {}, h("strong", {}, `${comparison.step} of ${comparison.workload}`), h("span.soft", {}, ` ${workloadText(workloadOf(comparison))}`)),
    ...[DRAW[kind](comparison)].flat(2).filter(Boolean), kind === "bars" ? "" : systemsLegend());
}

function systemsLegend() {
  return h("p.legend", {}, shownSystems().map((name) => h("span", {}, swatch(name), titleOf(name))));
}
