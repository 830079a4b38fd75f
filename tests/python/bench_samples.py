"""A made-up results document of the benchmark, for tests of what reads one: every status, and a suite of each shape.

    document = sample()                         # 5 repeats, 5 % noise, the same bytes for the same seed
    document = sample(repeats=7, noise=0.02, factors={"zarr-python": 1.3})   # a system made slower
    path.write_text(json.dumps(document))

Times are lognormal about `BASE[step] * SPEED[system]`; a repeat's own luck is shared by all systems, as on a machine
that is busier at times. The definitions are those of `tessarray_bench.model`; identifiers are alike to the real ones.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tessarray_bench.model import Codec, Data, Fleet, Layout, Query, Variable, Workload

BASELINE = "tensorstore"
AGAIN = f"{BASELINE} (again)"

# How long each system takes, over the baseline.
SPEED = {
    "tessarray": 0.6,
    "tensorstore": 1.0,
    AGAIN: 1.0,
    "zarr-python": 2.4,
    "zarr-python+zarrs": 1.02,
    "h5py": 1.9,
    "netcdf4": 2.2,
    "blosc2": 0.8,
    "atlas": 0.7,
    "tiledb": 3.0,
    "ome-zarr": 5.0,
    "icechunk": 1.5,
}
VERSIONS = {
    "tessarray": "0.1.0",
    "tensorstore": "0.1.86",
    "zarr-python": "3.4.2",
    "zarr-python+zarrs": "0.2.3",
    "h5py": "3.16.0",
    "netcdf4": "1.7.4",
    "blosc2": "4.0.0",
    "atlas": "0.14.0",
    "tiledb": "0.36.0",
    "ome-zarr": "0.12.0",
    "icechunk": None,
}
INSTALL = "pip install icechunk"
PLANE = 2_000_000


def workloads() -> list[Workload]:
    """Planes, fleets over N, parallel over workers, chunk shapes, codecs, appends at a rate, a remote store."""
    axes = (Query("axis 0", "[i, :]", 100), Query("axis 1", "[:, i]", 100))
    ramp = Data("ramp", (8000, 8000), "f8")
    cut = Layout((500, 25), (4000, 100))
    found = [
        Workload(
            f"planes/2d/{kind}",
            "planes",
            "array",
            data=Data(kind, (8000, 8000), "f8"),
            layout=cut,
            queries=axes,
        )
        for kind in ("ramp", "random")
    ]
    variables = tuple(Variable(name, (50, 168), "f4") for name in "abcd")
    for kind, ragged in (("profile", False), ("profile/ragged", True)):
        found += [
            Workload(
                f"fleet/{kind}/{n}",
                "fleet",
                "fleet",
                fleet=Fleet(n, variables, ragged),
                options={"slice": 0.25},
            )
            for n in (100, 500, 1000)
        ]
    whole = (Query("read all", "[:, :]"),)
    found += [
        Workload(f"parallel/2d/{n} workers", "parallel", "array", ramp, layout=cut, queries=whole, workers=n)
        for n in (1, 2, 4)
    ]
    bands = (
        Query("row band", "[:10, :]"),
        Query("column band", "[:, :10]"),
        Query("box", "[:100, :100]", 100),
    )
    for chunks in ((10, 10000), (100, 1000), (1000, 100)):
        layout = Layout(chunks, None, Codec.parse("zstd:3"))
        name = f"chunk-shape/{chunks[0]}x{chunks[1]}"
        found.append(
            Workload(name, "chunk-shape", "array", Data("field", (10000, 10000), "f8"), None, layout, bands)
        )
    for kind, codec in itertools.product(("series", "image"), CODECS):
        layout = Layout((100_000,), None, Codec.parse(codec))
        data = Data(kind, (4_000_000,), "f8")
        found.append(
            Workload(f"codecs/{kind}/{codec}", "codecs", "array", data, layout=layout, queries=whole[:1])
        )
    frames = Data("camera", (640, 1080, 1920), "u1")
    offered = {"frames": 1, "rate": 500.0, "queue": 64}
    found.append(
        Workload("append/1 frame", "append", "append", frames, layout=Layout((64, 540, 960)), options=offered)
    )
    found.append(
        Workload("remote/2d/10 ms", "remote", "array", ramp, None, cut, axes, options={"latency": 0.01})
    )
    return found


# Codec -> the share of the bytes that it leaves, and how long it takes over the first.
CODECS = {
    "none": (1.0, 0.7),
    "blosc:lz4:5:byte": (0.42, 1.0),
    "blosc:zstd:5:byte": (0.31, 2.5),
    "zstd:3": (0.36, 2.0),
    "gzip:6": (0.33, 6.0),
}

# Seconds of each step at the baseline, before what the workload makes of it.
BASE = {
    "write": 0.3, "sync": 0.02, "open": 2e-4, "first read": 4e-3, "axis 0": 0.05, "axis 1": 0.08, "read all": 0.2,
    "row band": 0.03, "column band": 0.04, "box": 0.06, "bulk read": 1.2e-4, "one dataset": 1e-3, "append": 1.1,
}  # fmt: skip


def steps(workload: Workload) -> list[tuple[str, str]]:
    """(process, step) of a workload."""
    if workload.kind == "append":
        return [("append", "append"), ("append", "sync"), ("check", "check")]
    reads = [q.name for q in workload.queries] or ["bulk read", "one dataset"]
    read = [("read", step) for step in ("open", *reads)]
    return [("write", "write"), ("write", "sync"), *read, ("check", "check")]


def cost(workload: Workload, step: str, system: str) -> float:
    seconds: float = BASE[step] * SPEED[system]
    if workload.fleet is not None and step != "one dataset":
        seconds *= workload.fleet.count ** (1.0 if step == "write" or system != "atlas" else 0.6)
        seconds /= 100 if step == "write" else 1
    if workload.workers:
        seconds *= 0.15 + 0.85 / workload.workers
    if workload.suite == "codecs" and workload.layout is not None:
        seconds *= CODECS[str(workload.layout.codec)][1]
    if step in ("row band", "column band") and workload.layout is not None:
        rows, columns = workload.layout.chunks
        seconds *= (rows / columns if step == "row band" else columns / rows) ** 0.4
    latency: float = workload.options.get("latency", 0.0)
    return seconds + latency * (2 if step.startswith("axis") else 0)


def failure(workload: Workload, system: str, process: str, step: str, repeat: int) -> tuple[str, str] | None:
    """What does not work: each status once, some of them in some repeats only."""
    if system == "icechunk":
        return "absent", f"icechunk is not installed: {INSTALL}"
    if system == "atlas" and workload.suite != "fleet":
        return "unsupported", "single arrays"
    if system == "netcdf4" and workload.suite == "remote":
        return "unsupported", "reading over HTTP"
    if system == "blosc2" and workload.id.endswith("ragged/1000") and process == "read":
        return "wrong", "4 of 8400 values differ, the first at (3, 7): 0.25 for 0.5"
    if system == "h5py" and workload.id == "planes/2d/random" and process == "check":
        return "wrong", "zarr-python reads 1 of 64000000 values otherwise: at (0, 0) 1.0 for 2.0"
    if system == "tiledb" and workload.id == "planes/2d/random" and repeat % 2 == 1 and process != "check":
        return "crashed", "signal 11 (SIGSEGV)"
    if system == "tiledb" and workload.suite == "codecs" and step == "write":
        return "failed", "TileDBError: filter option out of range"
    if system == "ome-zarr" and workload.suite == "chunk-shape" and step == "column band":
        return "timeout", "no answer within 120 s"
    if system == "ome-zarr" and workload.suite == "append" and process == "append":
        return "memory", "killed at 7.9 GB"
    return None


def row(workload: Workload, system: str, process: str, step: str, repeat: int, wall: float) -> dict[str, Any]:
    """One step that went well."""
    queries = {q.name: q for q in workload.queries}
    calls = queries[step].count if step in queries else 640 if step == "append" else 1
    share = CODECS[str(workload.layout.codec)][0] if workload.layout else 0.5
    nbytes = {"sync": 0, "open": 0, "one dataset": 4 * 50 * 168 * 4}.get(step, workload.nbytes)
    if calls > 1 and step != "append":
        nbytes = calls * 64_000
    found: dict[str, Any] = {
        "workload": workload.id, "suite": workload.suite, "system": system, "repeat": repeat, "process": process,
        "step": step, "status": "ok", "reason": None, "wall": wall, "calls": calls, "nbytes": nbytes,
        "cpu_user": 1.4 * wall, "cpu_system": 0.2 * wall, "peak": int(0.3 * workload.nbytes) + PLANE,
        "retained": PLANE // 2, "read": int(nbytes * share), "written": 0, "read_calls": calls, "write_calls": 0,
        "verified": True,
    }  # fmt: skip
    if calls > 1:
        each = wall / calls
        names = ("p50", "p99", "p999", "max", "first")
        found["latency"] = {name: each * k for name, k in zip(names, (0.9, 2.5, 6.0, 9.0, 7.0), strict=True)}
    if step in ("write", "append"):
        files = workload.fleet.count * 4 if workload.fleet else 160
        found |= {"stored": int(workload.nbytes * share), "files": files}
        found |= {"read": 0, "written": int(nbytes * share), "read_calls": 0, "write_calls": files}
        if workload.layout is not None:
            found["facts"] = {**workload.layout.to_json(), "checksum": "crc32c", "dtype": "f8"}
        if system in ("h5py", "netcdf4") and workload.layout is not None and workload.layout.shards:
            flat = workload.layout.flat()
            found["facts"] = {**flat.to_json(), "checksum": None, "dtype": "f8"}
            found["differs"] = [
                f"chunks: {flat.chunks} for {workload.layout.chunks} in {workload.layout.shards}"
            ]
    if step == "append" and workload.options.get("rate"):
        found |= {"offered": workload.options["rate"], "dropped": int(system == "zarr-python") * 12}
    if workload.suite == "remote" and process == "read":
        found |= {"requests": 2 * calls, "transferred": int(nbytes * share)}
    if process == "check":
        found["reader"] = "zarr-python" if system != "zarr-python" else BASELINE
    return found


def rows(
    repeats: int, noise: float, factors: Mapping[str, float], rng: np.random.Generator
) -> Iterator[dict[str, Any]]:
    for workload in workloads():
        for repeat in range(repeats):
            luck = np.exp(rng.normal(0, noise))
            for system in SPEED:
                broken: str | None = None
                for number, (process, step) in enumerate(steps(workload)):
                    if broken == "all" or broken == process:
                        continue
                    trouble = failure(workload, system, process, step, repeat)
                    scatter = luck * np.exp(rng.normal(0, noise)) * factors.get(system, 1.0)
                    wall = float(scatter * (0.5 if step == "check" else cost(workload, step, system)))
                    found = row(workload, system, process, step, repeat, wall)
                    if trouble is not None:
                        status, reason = trouble
                        kept = ("workload", "suite", "system", "repeat", "process", "step")
                        found = {key: found[key] for key in kept} | {"status": status, "reason": reason}
                        found |= {"wall": wall} if status == "wrong" else {}
                        broken = process if status == "wrong" and process == "read" else "all"
                    elif step in ("write", "open", "append", "check"):
                        first = {"import": 0.2, "startup": 0.3, "total": 1.0 + wall, "in_process": 0.6 + wall}
                        found |= first if number == 0 or process != "write" else {}
                    yield found


def sample(
    seed: int = 0,
    repeats: int = 5,
    noise: float = 0.05,
    factors: Mapping[str, float] | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """A results document. `factors` make systems slower (1.3) or faster; `settings` replace those of the run."""
    rng = np.random.default_rng(seed)
    features = {"atlas": ["fleet"], "icechunk": []}
    systems = {
        name: {
            "title": {"netcdf4": "netCDF4", "tensorstore": "TensorStore", "tessarray": "Tessarray"}.get(
                name, name
            ),
            "versions": {name: version, "numpy": "2.5.5"} if version else {},
            "python": "3.13.0",
            "environment": "own" if name == "tessarray" else "peers",
            "features": features.get(name, ["array", "append", "fleet"]),
            "sources": {"threads": f"https://example.org/{name}/guide#threads"},
        }
        for name, version in VERSIONS.items()
    }
    return {
        "format": "tessarray-bench/1",
        "command": f"tessarray bench run all --scale 1 --repeats {repeats} --seed {seed}",
        "started": "2026-11-21T10:00:00+00:00",
        "finished": "2026-11-21T11:00:00+00:00",
        "settings": {
            "scale": 1.0, "repeats": repeats, "seed": seed, "baseline": BASELINE, "cache": "warm",
            "workdir_filesystem": "tmpfs", "time_limit": 120, **settings,
        },
        "machine": {
            "processor": "Example Processor 9", "cores": 4, "memory": 16 << 30,
            "kernel": "6.12.0", "filesystem": "tmpfs",
        },
        "systems": systems,
        "workloads": {workload.id: workload.to_json() for workload in workloads()},
        "rows": list(rows(repeats, noise, factors or {}, rng)),
    }  # fmt: skip
