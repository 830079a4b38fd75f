// Comparisons (workload x step) and their cells, by system. All statistics were computed before: here is only look-up.

const METRICS = [
  { id: "wall", name: "time", kind: "seconds", better: -1, title: "Wall time of the step" },
  { id: "rate", name: "rate", kind: "rate", better: 1, title: "Bytes of values over wall time" },
  { id: "ratio", name: "ratio to baseline", kind: "ratio", better: -1, title: "Time over the baseline's time" },
  { id: "cpu", name: "CPU time", kind: "seconds", better: -1, title: "User and system CPU time" },
  { id: "peak", name: "peak memory", kind: "bytes", better: -1, title: "Peak resident memory above the level before" },
  { id: "read", name: "bytes read", kind: "bytes", better: -1, title: "Bytes read by the process" },
  { id: "written", name: "bytes written", kind: "bytes", better: -1, title: "Bytes written by the process" },
  { id: "stored", name: "stored size", kind: "bytes", better: -1, title: "Size of the store on disk" },
  { id: "p99", name: "p99 latency", kind: "seconds", better: -1, title: "99th percentile of single calls" },
];
const metricOf = (id) => METRICS.find((metric) => metric.id === id);

const isAgain = (system) => system.endsWith(" (again)");
const plainName = (system) => system.replace(" (again)", "");

const COMPARISONS = []; // {key, file, workload, process, step, suite, cells: Map(system -> cell)}
const BY_KEY = new Map();
const OF_WORKLOAD = new Map(); // file|workload -> its comparisons
const SYSTEMS = []; // names in the order of the files, without the runs that only measure noise

PAGE.files.forEach((file, number) => {
  const sources = file.sources.map((one) => PAGE.sources[one].results);
  const all = (key) => Object.assign({}, ...sources.map((one) => one[key]));
  file.results = { ...sources[0], workloads: all("workloads"), systems: all("systems"), rows: sources.flatMap((one) => one.rows) };
  for (const cell of file.cells) {
    const { workload, process, step } = cell;
    const key = `${number}|${workload}|${process}|${step}`;
    if (!BY_KEY.has(key)) {
      const { suite } = file.results.workloads[workload];
      const comparison = { key, file: number, workload, process, step, suite, cells: new Map() };
      BY_KEY.set(key, comparison);
      COMPARISONS.push(comparison);
      const place = `${number}|${workload}`;
      OF_WORKLOAD.set(place, [...(OF_WORKLOAD.get(place) || []), comparison]);
    }
    BY_KEY.get(key).cells.set(cell.system, cell);
  }
  for (const name of [...Object.keys(file.results.systems), ...file.cells.map((cell) => cell.system)]) {
    if (!isAgain(name) && !SYSTEMS.includes(name)) SYSTEMS.push(name);
  }
});

const fileOf = (comparison) => PAGE.files[comparison.file];
const workloadOf = (comparison) => fileOf(comparison).results.workloads[comparison.workload];
const isCheck = (comparison) => comparison.process === "check";
const siblings = (comparison) => OF_WORKLOAD.get(`${comparison.file}|${comparison.workload}`);

// The file that words about "the" run are taken from where several are shown.
const fileNow = () => PAGE.files[Number(state.file) || 0];

// The system that ratios are taken to: the reader's choice, or the one that ran twice.
const baseNow = () => (SYSTEMS.includes(state.base) ? state.base : fileNow().results.settings.baseline);

function titleOf(system) {
  const file = PAGE.files.find((one) => one.results.systems[plainName(system)]);
  const title = (file && file.results.systems[plainName(system)].title) || plainName(system);
  return title + (isAgain(system) ? " (again)" : "");
}

// [value, low, high, level] of a metric, or null where there is none.
function figure(cell, metric = state.metric) {
  if (!cell || !cell.metrics.wall) return null;
  if (metric !== "ratio") return cell.metrics[metric] || null;
  if (cell.system === baseNow()) return [1, null, null, null];
  return cell.ratios[baseNow()] || null;
}

// "faster", "slower" or "equal", as seen from `cell`; null where the two cannot be compared.
const verdict = (cell, base) => (cell && cell.ratios[base] ? cell.ratios[base][3] : null);

// Cells that may be called fastest, the fastest first, and those that are level with the first within the noise.
function ranking(comparison) {
  const cells = SYSTEMS.map((name) => comparison.cells.get(name)).filter((cell) => cell && cell.ranks)
    .sort((a, b) => a.metrics.wall[0] - b.metrics.wall[0]);
  const best = cells[0];
  const level = cells.filter((cell) => cell === best || verdict(cell, best.system) === "equal");
  return { cells, best, level };
}

// The cell, or what stands for it where an earlier step of the same workload ended badly.
function cellOf(comparison, system) {
  if (comparison.cells.has(system)) return comparison.cells.get(system);
  const stand = { system, n: 0, status: "missing", reasons: [], statuses: {}, metrics: {}, ratios: {}, differs: [], facts: {}, extra: {} };
  for (const other of siblings(comparison)) {
    const cell = other.cells.get(system);
    if (!cell) continue;
    if (cell.status === "absent" || cell.status === "unsupported") return { ...cell, statuses: {} };
    stand.rerun = cell.rerun;
    if (cell.status !== "ok") stand.reasons = [`${other.step}: ${STATUS[cell.status]}: ${cell.reasons.join("; ")}`];
  }
  return stand;
}

function rowsOf(comparison, system) {
  const rows = [];
  for (const number of fileOf(comparison).sources) {
    for (const row of PAGE.sources[number].results.rows) {
      if (row.workload === comparison.workload && row.process === comparison.process
        && row.step === comparison.step && row.system === system) rows.push({ ...row, source: PAGE.sources[number].label });
    }
  }
  return rows.sort((a, b) => a.repeat - b.repeat);
}
