"""Refuse an import that points up.

Rust: the crates stand in the order of RUST_LAYERS; a crate may depend on those below it only (its dev-dependencies
too: a test that needs the layer above belongs in the layer above). Python: the modules of `tessarray` named in
PYTHON_BASE stand below the API, those in PYTHON_LAYERS above it, in that order; `tessarray/__init__.py` may import the
latter inside a function (lazily), since it is the face, and type-checking imports do not count. The benchmark is a
package of its own, `tessarray_bench`. It may not import `tessarray` but in the adapter that measures it; what shows
results may import `tessarray.display` too. What runs in other libraries' environments (BENCH_WORKER) may not, and
imports nothing of the benchmark that lies above. Only the command line may import the benchmark.

Within a crate: its rooms (the folders of its source, and the files beside them) stand in the order of RUST_ROOMS, and
the files of one folder do not use each other in a circle. Tests do not count.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RUST_LAYERS = [
    "tessarray-buffer",
    "tessarray-grid",
    "tessarray-codec",
    "tessarray-meta",
    "tessarray-store",
    "tessarray-array",
    "tessarray-pack",
    "tessarray-collection",
    "tessarray",
    "tessarray-python",
    "tessarray-fuzz",
]
PYTHON_BASE = ["errors", "display", "_native"]
# From the lowest room to the highest. `lib.rs` stands above all.
RUST_ROOMS = {
    "tessarray-grid": [
        "error",
        "dims",
        "odometer",
        "edges",
        "selection",
        "slice",
        "points",
        "strided",
        "segments",
        "axis_groups",
        "axis",
    ],
    "tessarray-meta": [
        "base64",
        "endian",
        "limits",
        "path",
        "names",
        "error",
        "non_finite",
        "json",
        "fields",
        "sharding",
        "key_encoding",
        "chunk_grid",
        "dtype",
        "fill",
        "array",
        "node",
        "v2",
    ],
    "tessarray-store": [
        "key",
        "error",
        "owned",
        "request",
        "span",
        "positional",
        "waiting",
        "key_locks",
        "store",
        "ordered",
        "memory",
        "file",
        "zip",
        "adapters",
        "conformance",
    ],
    "tessarray-pack": [
        "error",
        "id",
        "time",
        "clock",
        "names",
        "chunk_checksum",
        "log",
        "catalogue",
        "layout",
        "version",
        "transaction",
        "pack",
        "commit",
        "stores",
        "care",
    ],
    "tessarray-collection": [
        "error",
        "statistics",
        "kinds",
        "index",
        "collection",
        "find",
        "plan",
        "letters",
        "add",
    ],
}
PYTHON_LAYERS = ["conversion", "collection", "tuner", "bench", "demo", "cli"]
# What the first line about it in a crate's lib.rs has to be; `forbid` for all others.
MAY_BE_UNSAFE = {"tessarray-buffer": None, "tessarray-codec": "deny", "tessarray-python": "deny"}
API = -1  # every other module
DISPLAY = "tessarray.display"
BENCH = "tessarray_bench"
BENCH_ADAPTER = f"{BENCH}.systems.tessarray"
BENCH_WORKER = ("model", "data", "fleet_data", "queries", "systems", "worker")


def rust_dependencies(manifest: dict[str, Any]) -> set[str]:
    """The workspace crates a manifest depends on: in every kind of table, for every target, renamed or not."""
    tables = [manifest, *manifest.get("target", {}).values()]
    found: set[str] = set()
    for table in tables:
        for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
            for name, spec in table.get(kind, {}).items():
                found.add(spec.get("package", name) if isinstance(spec, dict) else name)
    return {name for name in found if name == "tessarray" or name.startswith("tessarray-")}


def rust_problems(root: Path) -> list[str]:
    problems = []
    for path in sorted((root / "crates").glob("*/Cargo.toml")):
        manifest = tomllib.loads(path.read_text(encoding="utf-8"))
        name = manifest["package"]["name"]
        where = path.relative_to(root)
        if name not in RUST_LAYERS:
            problems.append(
                f"{where}: crate {name} has no layer: add it to RUST_LAYERS in tools/check_layers.py"
            )
            continue
        for dependency in sorted(rust_dependencies(manifest)):
            if dependency not in RUST_LAYERS:
                problems.append(f"{where}: {name} depends on {dependency}, which has no layer")
            elif RUST_LAYERS.index(dependency) >= RUST_LAYERS.index(name):
                problems.append(f"{where}: {name} depends on {dependency}, which is not below it")
    return problems


def unsafe_problems(root: Path) -> list[str]:
    """Crates that do not refuse `unsafe` code as they have to."""
    problems = []
    for path in sorted((root / "crates").glob("*/src/lib.rs")):
        crate = path.parent.parent.name
        level = MAY_BE_UNSAFE.get(crate, "forbid")
        if level is not None and f"#![{level}(unsafe_code)]" not in path.read_text(encoding="utf-8"):
            problems.append(f"{path.relative_to(root)}: {crate} has to say #![{level}(unsafe_code)]")
    return problems


def rust_uses(path: Path) -> list[tuple[int, str]]:
    """The paths that a source file uses: `crate::a::b` or `super::a`, with their lines. Not those of its tests."""
    text = path.read_text(encoding="utf-8").split("#[cfg(test)]\nmod tests")[0]
    code = re.sub(r"^[ \t]*//.*$", "", text, flags=re.MULTILINE)
    found = []
    for use in re.finditer(r"\b(?:crate|super)(?:::\w+)+|\bcrate::\{([^{}]*)\}", code):
        line = code.count("\n", 0, use.start()) + 1
        names = [use[0]] if use[1] is None else [f"crate::{name.strip()}" for name in use[1].split(",")]
        found += [(line, name) for name in names if name != "crate::"]
    return found


def room_problems(root: Path) -> list[str]:
    """Imports that point up within a crate, and circles of files."""
    problems = []
    for crate, rooms in RUST_ROOMS.items():
        source = root / "crates" / crate / "src"
        arrows: dict[Path, set[Path]] = {}
        for path in sorted(source.rglob("*.rs")):
            parts = path.relative_to(source).with_suffix("").parts
            where = path.relative_to(root)
            if parts == ("lib",) or "tests" in parts or path.stem.endswith("_tests"):
                continue
            if parts[0] not in rooms:
                problems.append(f"{where}: room {parts[0]} of {crate} has no floor: add it to RUST_ROOMS")
                continue
            for line, use in rust_uses(path):
                first, *rest = use.split("::")
                if first == "crate":
                    if rest[0] not in rooms:
                        problems.append(f"{where}:{line}: {use}: name the room, not lib.rs")
                    elif rooms.index(rest[0]) > rooms.index(parts[0]):
                        problems.append(f"{where}:{line}: {parts[0]} uses {rest[0]}, which stands above it")
                elif path.stem != "mod":
                    beside = [path.parent / f"{rest[0]}.rs", path.parent / rest[0] / "mod.rs"]
                    arrows.setdefault(path, set()).update(file for file in beside if file.exists())
        problems += [f"{files} use each other in a circle" for files in circles(arrows, root)]
    return problems


def circles(arrows: dict[Path, set[Path]], root: Path) -> list[str]:
    """Each file that can be reached from itself, with one way round."""
    found = []
    for start in sorted(arrows):
        ways = [[start]]
        seen: set[Path] = set()
        while ways:
            way = ways.pop()
            for file in sorted(arrows.get(way[-1], ())):
                if file == start:
                    found.append(" -> ".join(str(one.relative_to(root)) for one in [*way, start]))
                    ways.clear()
                    break
                if file not in seen:
                    seen.add(file)
                    ways.append([*way, file])
    return found


def layer_of(module: str) -> int:
    """The layer of a dotted module name that starts with `tessarray`."""
    parts = module.split(".")
    if len(parts) > 1 and parts[1] in PYTHON_BASE:
        return API - len(PYTHON_BASE) + PYTHON_BASE.index(parts[1])
    return PYTHON_LAYERS.index(parts[1]) if len(parts) > 1 and parts[1] in PYTHON_LAYERS else API


def module_name(path: Path, package: Path) -> str:
    parts = list(path.relative_to(package.parent).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


class Imports(ast.NodeVisitor):
    """Collects (line, imported module, inside a function) of every import that runs."""

    def __init__(self, module: str, is_package: bool) -> None:
        self.base = module.split(".") if is_package else module.split(".")[:-1]
        self.depth = 0
        self.found: list[tuple[int, str, bool]] = []

    def visit_If(self, node: ast.If) -> None:
        if "TYPE_CHECKING" in ast.unparse(node.test):
            for other in node.orelse:
                self.visit(other)
        else:
            self.generic_visit(node)

    def function(self, node: ast.AST) -> None:
        self.depth += 1
        self.generic_visit(node)
        self.depth -= 1

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = function

    def visit_Import(self, node: ast.Import) -> None:
        self.found += [(node.lineno, alias.name, self.depth > 0) for alias in node.names]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = self.base[: len(self.base) - node.level + 1] if node.level else []
        origin = ".".join([*base, *([node.module] if node.module else [])])
        for alias in node.names:
            # `from tessarray import cli` names a module, `from tessarray.cli import main` a thing in one.
            self.found.append((node.lineno, f"{origin}.{alias.name}", self.depth > 0))

    def visit_Call(self, node: ast.Call) -> None:
        """`importlib.import_module("tessarray.cli")` is an import too, where its name can be read."""
        name = ast.unparse(node.func)
        if name.endswith(("import_module", "__import__")) and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                target = first.value
                if target.startswith("."):
                    target = ".".join([*self.base, target.lstrip(".")])
                self.found.append((node.lineno, target, self.depth > 0))
        self.generic_visit(node)


def python_problems(root: Path) -> list[str]:
    package = root / "python" / "tessarray"
    problems = []
    for path in sorted([*package.rglob("*.py"), *package.rglob("*.pyi")]):
        module = module_name(path, package)
        imports = Imports(module, path.stem == "__init__")
        imports.visit(ast.parse(path.read_text(encoding="utf-8"), filename=str(path)))
        for line, target, lazy in imports.found:
            if target.split(".")[0] != "tessarray" or layer_of(target) <= layer_of(module):
                continue
            if module == "tessarray" and lazy:
                continue
            problems.append(
                f"{path.relative_to(root)}:{line}: {module} imports {target}, which stands above it"
            )
    return problems


def bench_problems(root: Path) -> list[str]:
    """The benchmark apart from what it measures, and its workers apart from the harness."""
    problems = []
    for package in (root / "python" / "tessarray", root / "python" / BENCH):
        for path in sorted(package.rglob("*.py")):
            module = module_name(path, package)
            imports = Imports(module, path.stem == "__init__")
            imports.visit(ast.parse(path.read_text(encoding="utf-8"), filename=str(path)))
            for line, target, _ in imports.found:
                why = bench_refusal(module, target)
                if why:
                    problems.append(f"{path.relative_to(root)}:{line}: {module} imports {target}: {why}")
    return problems


def bench_refusal(module: str, target: str) -> str | None:
    """Why a module may not import another, as far as the benchmark goes."""
    ours, theirs = module.split("."), target.split(".")
    if theirs[0] == BENCH and ours[0] == "tessarray" and ours[1:2] != ["cli"]:
        return "only the command line may"
    if ours[0] != BENCH:
        return None
    if theirs[0] == "tessarray" and module != BENCH_ADAPTER:
        worker = ours[1:2] and ours[1] in BENCH_WORKER
        if worker or (target != DISPLAY and not target.startswith(f"{DISPLAY}.")):
            return "the benchmark knows Tessarray by its adapter only"
    # `from tessarray_bench import data` is found as `tessarray_bench.data`.
    if (
        theirs[0] == BENCH
        and ours[1:2]
        and ours[1] in BENCH_WORKER
        and theirs[1:2]
        and theirs[1] not in BENCH_WORKER
    ):
        return "a worker needs NumPy and the standard library only"
    return None


def main(root: Path = ROOT) -> int:
    problems = rust_problems(root) + room_problems(root) + unsafe_problems(root)
    problems += python_problems(root) + bench_problems(root)
    for problem in problems:
        print(problem)
    print(f"layers: {len(problems)} edges point up" if problems else "layers: no edge points up")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
