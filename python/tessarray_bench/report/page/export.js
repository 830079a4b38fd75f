// The data, to take away: each results file as it came, its rows as CSV, and the computed cells as CSV.

function save(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// {latency: {p50: 1}} -> {"latency.p50": 1}; lists stay JSON.
function flat(value, prefix = "") {
  const found = {};
  for (const [key, one] of Object.entries(value)) {
    if (one !== null && typeof one === "object" && !Array.isArray(one)) Object.assign(found, flat(one, `${prefix}${key}.`));
    else found[prefix + key] = Array.isArray(one) ? JSON.stringify(one) : one;
  }
  return found;
}

function csv(records) {
  const rows = records.map((record) => flat(record));
  const columns = unique(rows.flatMap((row) => Object.keys(row)));
  const text = (value) => {
    const plain = value === null || value === undefined ? "" : String(value);
    return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
  };
  return [columns, ...rows.map((row) => columns.map((name) => row[name]))].map((row) => row.map(text).join(",")).join("\r\n") + "\r\n";
}

function cellRecords() {
  return PAGE.files.flatMap((file) => file.cells.map(({ metrics, ratios, facts, statuses, extra, ...plain }) => {
    const record = { file: file.label, ...plain };
    for (const [name, [value, low, high, level]] of Object.entries(metrics)) Object.assign(record, { [name]: value, [`${name}.low`]: low, [`${name}.high`]: high, [`${name}.level`]: level });
    const base = file.results.settings.baseline;
    const [ratio, low, high, said] = ratios[base] || [];
    return { ...record, [`ratio to ${base}`]: ratio, "ratio.low": low, "ratio.high": high, verdict: said };
  }));
}

function drawDownloads() {
  const name = (label, end) => `${label.replace(/[^\w.-]+/g, "-")}${end}`;
  $("download-buttons").replaceChildren(
    ...PAGE.sources.flatMap(({ label, results }) => [
      h("button", { type: "button", "data-save": "json", onclick: () => save(name(label, ".json"), "application/json", JSON.stringify(results, null, 1)) }, `${label}: results as JSON`),
      h("button", { type: "button", "data-save": "csv", onclick: () => save(name(label, "-rows.csv"), "text/csv", csv(results.rows)) }, `${label}: rows as CSV`)]),
    h("button", { type: "button", "data-save": "cells", onclick: () => save("cells.csv", "text/csv", csv(cellRecords())) }, "Medians and intervals as CSV"));
}
