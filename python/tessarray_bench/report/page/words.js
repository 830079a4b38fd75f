// What is asked for, and how it ended, in words.

function layoutText(workload) {
  const layout = workload.layout;
  if (!layout) return "natural layout";
  const chunks = `chunks ${tuple(layout.chunks)}`;
  return layout.shards ? `${chunks} in shards ${tuple(layout.shards)}` : chunks;
}

const codecText = (workload) => (workload.layout ? workload.layout.codec : "natural");
const kindText = (workload) => (workload.data || workload.fleet).kind;

function dataText(workload) {
  if (workload.data) return `${workload.data.kind} ${workload.data.dtype} ${tuple(workload.data.shape)}`;
  const { count, variables, ragged } = workload.fleet;
  const shapes = unique(variables.map((one) => `${one.dtype} ${tuple(one.shape)}`)).join(", ");
  return `${count} × ${plural(variables.length, "variable")} of ${shapes}${ragged ? ", ragged" : ""}`;
}

function workloadText(workload) {
  const options = Object.entries(workload.options || {}).map(([key, value]) => `${key} ${value}`);
  const codec = workload.layout ? workload.layout.codec : "";
  const workers = workload.workers ? plural(workload.workers, "worker") : "";
  return [dataText(workload), layoutText(workload), codec, workers, ...options].filter(Boolean).join(" · ");
}

const STATUS = {
  unsupported: "not supported", absent: "absent", wrong: "wrong values", failed: "failed",
  crashed: "crashed", timeout: "timed out", memory: "out of memory", missing: "not reached", ok: "ok",
};
const FAULTS = ["wrong", "failed", "crashed", "timeout", "memory"];
const VERDICTS = { faster: "faster", slower: "slower", equal: "equal within noise" };

// "crashed in 2 of 5", or the status alone where no repeat went well.
function statusText(cell) {
  const all = Object.values(cell.statuses).reduce((sum, n) => sum + n, 0);
  const bad = cell.statuses[cell.status] || 0;
  return bad && bad < all ? `${STATUS[cell.status]} in ${bad} of ${all}` : STATUS[cell.status];
}

const reasonText = (cell) => cell.reasons.join("; ");
const statusMark = (cell) => h(`span.status.${cell.status}`, {}, statusText(cell));

function floorText(file) {
  const { factor, cells } = file.floor;
  return cells ? `a factor of ${factor.toFixed(3)} (${titleOf(file.results.settings.baseline)} against itself in ${plural(cells, "comparison")})`
    : "not measured";
}

// How the system that ran twice differs from itself in this comparison.
function itselfText(comparison) {
  const cell = [...comparison.cells.values()].find((one) => isAgain(one.system));
  const ratio = cell && cell.ratios[plainName(cell.system)];
  return ratio ? `itself ${digits(ratio[0])}×` : "";
}

const levelText = (found) => (found && found[3] ? `${digits(found[3] * 100)} % interval` : "interval");
