// The view is the address: every choice lies in the hash, so that a link shows what its sender saw.

const EMPTY = {
  file: "0", suite: "", workload: "", systems: "", layout: "", codec: "", kind: "",
  metric: "wall", base: "", at: "", cell: "", chart: "bars", scale: "linear", across: "stored", axis: "",
  rows: "",
};
let state = { ...EMPTY };

function readState() {
  const given = new URLSearchParams(location.hash.slice(1));
  state = { ...EMPTY };
  for (const key of Object.keys(EMPTY)) if (given.has(key)) state[key] = given.get(key);
  if (!METRICS.some((metric) => metric.id === state.metric)) state.metric = EMPTY.metric;
  if (state.file !== "all" && !PAGE.files[Number(state.file)]) state.file = EMPTY.file;
}

function addressOf(changes) {
  const next = { ...state, ...changes };
  const kept = new URLSearchParams();
  for (const [key, value] of Object.entries(next)) if (value !== EMPTY[key]) kept.set(key, value);
  return "#" + kept.toString();
}

// A choice of the reader's is a step that Back undoes; what only follows the focus is not (`quiet`).
function go(changes, quiet = false) {
  const address = addressOf(changes);
  if (address !== (location.hash || "#")) {
    if (quiet) history.replaceState(null, "", address);
    else history.pushState(null, "", address);
  }
  readState();
  render();
}
