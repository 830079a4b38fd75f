"""The layer check refuses edges that point up and accepts those that point down."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

TOOLS = Path(__file__).resolve().parent.parent


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


layers = load("check_layers")


def crate(root: Path, name: str, text: str) -> None:
    folder = root / "crates" / name
    folder.mkdir(parents=True)
    (folder / "Cargo.toml").write_text(f'[package]\nname = "{name}"\n{text}')


def module(root: Path, name: str, text: str) -> None:
    path = root / "python" / "tessarray" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_this_repository_has_no_edge_that_points_up():
    root = TOOLS.parent
    found = layers.rust_problems(root) + layers.room_problems(root)
    assert found + layers.python_problems(root) + layers.bench_problems(root) == []


@pytest.mark.parametrize(
    ("importer", "imported", "fine"),
    [
        ("tessarray.cli.app", "tessarray_bench.cli.app", True),
        ("tessarray.api", "tessarray_bench.model", False),
        ("tessarray_bench.systems.tessarray", "tessarray", True),
        ("tessarray_bench.systems.zarr_python", "tessarray", False),
        ("tessarray_bench.harness.run", "tessarray.store", False),
        ("tessarray_bench.report.page", "tessarray.display.page", True),
        ("tessarray_bench.report.page", "tessarray.display", True),
        ("tessarray_bench.worker.array", "tessarray.display.units", False),
        ("tessarray_bench.systems.base", "tessarray.display", False),
        ("tessarray_bench.worker.array", "tessarray_bench.queries", True),
        ("tessarray_bench.worker.array", "tessarray_bench.harness.run", False),
        ("tessarray_bench.systems.base", "tessarray_bench.statistics", False),
        ("tessarray_bench.harness.run", "tessarray_bench.systems.base", True),
    ],
)
def test_the_benchmark_stands_apart_from_what_it_measures(importer, imported, fine):
    assert (layers.bench_refusal(importer, imported) is None) == fine


def test_a_favour_in_the_benchmark_is_found(tmp_path):
    folder = tmp_path / "python" / "tessarray_bench" / "harness"
    folder.mkdir(parents=True)
    (folder / "run.py").write_text("def run():\n    import tessarray\n")
    (problem,) = layers.bench_problems(tmp_path)
    assert "harness/run.py:2" in problem and "adapter only" in problem


def test_a_crate_may_depend_on_those_below_it(tmp_path):
    crate(tmp_path, "tessarray-meta", "[dependencies]\ntessarray-grid.workspace = true\nserde = '1'\n")
    assert layers.rust_problems(tmp_path) == []


@pytest.mark.parametrize(
    "text",
    [
        "[dependencies]\ntessarray-store.workspace = true\n",
        "[dev-dependencies]\ntessarray = { path = '../tessarray' }\n",
        "[build-dependencies]\ntessarray-array = '0.1'\n",
        "[target.'cfg(unix)'.dependencies]\ntessarray-store.workspace = true\n",
        "[dependencies]\nother = { package = 'tessarray-store', version = '0.1' }\n",
        "[dependencies]\ntessarray-unheard-of = '1'\n",
    ],
)
def test_a_crate_may_not_depend_on_one_above_it(tmp_path, text):
    crate(tmp_path, "tessarray-meta", text)
    (problem,) = layers.rust_problems(tmp_path)
    assert "tessarray-meta depends on" in problem


def test_a_crate_without_a_layer_is_refused(tmp_path):
    crate(tmp_path, "tessarray-new", "")
    (problem,) = layers.rust_problems(tmp_path)
    assert "has no layer" in problem


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("_array.py", "from tessarray.cli import main\n"),
        ("_array.py", "from . import conversion\n"),
        ("_array.py", "def f():\n    import tessarray.demo\n"),
        ("__init__.py", "from tessarray.conversion import convert\n"),
        ("conversion/__init__.py", "from tessarray.cli import main\n"),
        ("conversion/hdf5.py", "from ..demo import run\n"),
        ("display/units.py", "from tessarray.summary import lengths_text\n"),
        ("errors.py", "from tessarray.display.units import byte_text\n"),
        ("_array.py", "import importlib\nimportlib.import_module('tessarray.bench')\n"),
    ],
)
def test_a_python_module_may_not_import_one_above_it(tmp_path, name, text):
    module(tmp_path, name, text)
    (problem,) = layers.python_problems(tmp_path)
    assert "which stands above it" in problem


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cli/__init__.py", "from tessarray import conversion, open\n"),
        ("conversion/__init__.py", "import tessarray\nfrom tessarray import create_array\n"),
        ("summary.py", "from tessarray.display.units import byte_text\n"),
        ("display/pictures.py", "from tessarray.errors import MissingPackageError\n"),
        (
            "__init__.py",
            "def convert():\n    from tessarray.conversion import convert as run\n    return run\n",
        ),
        (
            "__init__.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .conversion import convert\n",
        ),
        ("_array.py", "from ._group import Group\nimport numpy\n"),
    ],
)
def test_a_python_module_may_import_those_below_it(tmp_path, name, text):
    module(tmp_path, name, text)
    assert layers.python_problems(tmp_path) == []


def source(root: Path, name: str, text: str) -> None:
    path = root / "crates" / "tessarray-pack" / "src" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_room_that_uses_one_above_it_is_found(tmp_path):
    source(tmp_path, "names.rs", "use crate::error::Result;\n")
    source(tmp_path, "version/fetch.rs", "use crate::names::join;\nuse super::content::Piece;\n")
    source(tmp_path, "version/content.rs", "#[cfg(test)]\nmod tests {\n    use crate::care::Keep;\n}\n")
    source(tmp_path, "lib.rs", "mod version;\npub use version::Piece;\n")
    assert layers.room_problems(tmp_path) == []
    source(tmp_path, "names.rs", "fn key() -> crate::pack::Pack {}\n")
    assert layers.room_problems(tmp_path) == [
        "crates/tessarray-pack/src/names.rs:1: names uses pack, which stands above it"
    ]


def test_a_circle_of_files_is_found(tmp_path):
    source(tmp_path, "care/check.rs", "use super::history::Seen;\n")
    source(tmp_path, "care/history.rs", "use super::check::Damage;\n")
    found = layers.room_problems(tmp_path)
    assert len(found) == 2 and all("check.rs" in one and "history.rs" in one for one in found)
    source(tmp_path, "care/history.rs", "use super::damage::Damage;\n")
    assert layers.room_problems(tmp_path) == []


def test_a_room_without_a_floor_is_found(tmp_path):
    source(tmp_path, "attic.rs", "")
    source(tmp_path, "pack.rs", "use crate::{Result, names};\n")
    found = layers.room_problems(tmp_path)
    assert "attic" in found[0] and "name the room" in found[1]
