// What the measurements say, suite by suite, written by one rule for every system.

function suiteReports() {
  const comparisons = COMPARISONS.filter((one) => MATCHES.file(one) && !isCheck(one));
  return suitesOf().map((suite) => {
    const ranked = comparisons.filter((one) => one.suite === suite)
      .map((comparison) => ({ comparison, ...ranking(comparison) })).filter((one) => one.cells.length > 1);
    return { suite, ranked };
  }).filter((report) => report.ranked.length);
}

function tally(ranked) {
  const wins = new Map();
  for (const { level } of ranked) for (const { system } of level) wins.set(system, (wins.get(system) || 0) + 1);
  return wins;
}

const listed = (items) => (items.length < 2 ? items.join("")
  : `${items.slice(0, -1).join(", ")} and ${items[items.length - 1]}`);

// "Faster than X: A in 5 of 12 (up to 3.1×), B in 2 of 12." Only what is beyond the noise counts.
function against(base, ranked) {
  const found = { faster: [], slower: [], equal: [] };
  for (const system of SYSTEMS.filter((name) => name !== base)) {
    const pairs = ranked.map(({ comparison }) => comparison.cells.get(system))
      .filter((cell) => cell && cell.ranks && verdict(cell, base));
    const count = (words) => pairs.filter((cell) => verdict(cell, base) === words);
    const faster = count("faster");
    if (faster.length) {
      const most = Math.max(...faster.map((cell) => 1 / cell.ratios[base][0]));
      found.faster.push([faster.length, `${titleOf(system)} in ${faster.length} of ${pairs.length} (up to ${digits(most)}×)`]);
    } else if (pairs.length && count("slower").length === pairs.length) found.slower.push(titleOf(system));
    else if (pairs.length) found.equal.push(titleOf(system));
  }
  found.faster.sort((a, b) => b[0] - a[0]);
  const name = titleOf(base);
  const lines = [found.faster.length ? [h("strong", {}, `Faster than ${name}: `),
    listed(found.faster.map(([, text]) => text)), ". "] : [h("strong", {}, `Nothing is faster than ${name}. `)]];
  if (found.equal.length) lines.push(`Never faster and at times equal within noise: ${listed(found.equal)}. `);
  if (found.slower.length) lines.push(`Slower throughout: ${listed(found.slower)}.`);
  return h("p", {}, lines);
}

function leaders(ranked) {
  return h("div.scroll", { tabindex: "0", role: "region", "aria-label": "Fastest of each comparison" },
    h("table.list", {},
      h("thead", {}, h("tr", {}, ["Workload", "Step", "Fastest", "Time", "Next"].map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, ranked.map(({ comparison, best, cells, level }) => {
        const next = cells.find((cell) => !level.includes(cell));
        const times = next && next.ratios[best.system] ? `${digits(next.ratios[best.system][0])}× the time` : "";
        return h("tr", {},
          h("td", {}, h("a", { href: addressOf({ suite: comparison.suite, at: comparison.key, cell: "", workload: "" }) }, comparison.workload)),
          h("td", {}, comparison.step),
          h("td", {}, level.map((cell, i) => [i ? " ≈ " : "", swatch(cell.system), h("strong", {}, titleOf(cell.system))])),
          h("td.num", {}, show(best.metrics.wall[0], "seconds")),
          h("td", {}, next ? [titleOf(next.system), " ", h("span.soft", {}, times)] : h("span.soft", {}, "–")));
      }))));
}

function faults() {
  const found = new Map();
  for (const comparison of COMPARISONS.filter(MATCHES.file)) {
    for (const cell of comparison.cells.values()) {
      if (cell.status === "ok" || isAgain(cell.system)) continue;
      const key = `${cell.system}|${statusText(cell)}|${reasonText(cell)}`;
      if (!found.has(key)) found.set(key, { cell, places: [] });
      found.get(key).places.push(`${comparison.workload}, ${comparison.step}`);
    }
  }
  const order = (entry) => FAULTS.includes(entry.cell.status) ? 0 : 1;
  const entries = [...found.values()].sort((a, b) => order(a) - order(b));
  if (!entries.length) return h("p", {}, "Every system did everything that was asked.");
  return h("div.scroll", { tabindex: "0", role: "region", "aria-label": "What did not work" },
    h("table.list", { id: "faults" },
      h("thead", {}, h("tr", {}, ["System", "What", "Reason", "Where"].map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, entries.map(({ cell, places }) => h("tr", {},
        h("td", {}, swatch(cell.system), titleOf(cell.system)),
        h("td", {}, statusMark(cell)), h("td", {}, reasonText(cell)),
        h("td.soft", { title: places.join("\n") }, places[0] + (places.length > 1 ? ` and ${places.length - 1} more` : "")))))));
}

function drawSummary() {
  const reports = suiteReports();
  const active = SYSTEMS.filter((name) => reports.some(({ ranked }) => ranked.some((one) => one.cells.some((cell) => cell.system === name))));
  const base = baseNow();
  $("summary-body").replaceChildren(
    h("p.prose", {}, "How often each system was the fastest, or level with the fastest within the noise. Counts say nothing of how "
      + "much a workload matters to you; choose yours below."),
    h("p.prose", {}, "Noise floor: ", h("span", { id: "floor" }, floorText(fileNow())), ". What differs by less is called equal."),
    h("div.scroll", { tabindex: "0", role: "region", "aria-label": "Wins by suite" }, h("table.wins", {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Suite"), active.map((name) => h("th", { scope: "col" }, swatch(name), titleOf(name))))),
      h("tbody", {}, reports.map(({ suite, ranked }) => {
        const wins = tally(ranked);
        const most = Math.max(...wins.values());
        return h("tr", {}, h("th", { scope: "row" }, h("a", { href: addressOf({ suite, at: "", cell: "", workload: "" }), "data-after": "results" }, suite),
          h("span.soft", {}, ` of ${ranked.length}`)),
          active.map((name) => {
            const runs = ranked.some((one) => one.cells.some((cell) => cell.system === name));
            const count = wins.get(name) || 0;
            return h("td.num" + (runs && count === most ? ".most" : ""), {}, runs ? String(count) : h("span.soft", {}, "–"));
          }));
      })))),
    h("h3", {}, `Against ${titleOf(base)}`),
    h("p.soft", {}, "The baseline is chosen with the filters; the same words are made for any."),
    h("div.suites", {}, reports.map(({ suite, ranked }) => h("article", {}, h("h4", {}, suite), against(base, ranked),
      h("details", {}, h("summary", {}, `Fastest in each of ${plural(ranked.length, "comparison")}`), leaders(ranked))))),
    h("h3", {}, "What did not work"), faults());
}
