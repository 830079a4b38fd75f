"""Where the systems under test run: virtual environments made from lock files, kept apart from Tessarray's own.

Each group of systems (`peers`, `atlas`) has a file of requirements and a lock file in `environments/`. A group is
installed once and again only when its lock file changes. To resolve the lock files anew, and to install every group
from a checkout that is not built yet:

    python -m tessarray_bench.harness.environments
    python -m tessarray_bench.harness.environments install
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tessarray_bench.systems.base import System

LOCKS = Path(__file__).parent.parent / "environments"
STAMP = "installed.json"
# The versions that the lock files were resolved for and wheels are known for, best first; others come after.
PREFERRED = ((3, 13), (3, 12), (3, 14))
COMMAND = "tessarray bench install"

ABOUT = """
import ensurepip, json, sys, venv
print(json.dumps([*sys.version_info[:2], sys.implementation.name, sys.executable]))
"""
LOOK = """
import importlib.metadata, importlib.util, json, platform, sys
def here(module):
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False
def version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
asked = json.load(sys.stdin)
print(json.dumps({
    "python": platform.python_version(),
    "modules": {name: here(name) for name in asked["modules"]},
    "versions": {name: version(name) for name in asked["distributions"]},
}))
"""


class EnvironmentError_(Exception):  # noqa: N801, N818 - EnvironmentError is another name of OSError
    """An environment cannot be made or looked into; the text says why, and what to do where that is known."""


@dataclass(frozen=True)
class Group:
    """Systems that share an environment. `least`: the oldest Python that its lock file holds for."""

    name: str
    least: tuple[int, int]

    @property
    def lock(self) -> Path:
        """The file of versions that are installed."""
        return LOCKS / f"{self.name}.lock.txt"

    @property
    def requirements(self) -> Path:
        """The file of packages that the versions are resolved from."""
        return LOCKS / f"{self.name}.txt"


@dataclass(frozen=True)
class Found:
    """Where a system runs. `python` None: nowhere, and `reason` is the command that brings it.

    `versions` are those of its distributions and of NumPy.
    """

    python: Path | None
    environment: str
    python_version: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    reason: str = ""


def home(override: Path | None = None) -> Path:
    """The folder of the environments: the given one, $TESSARRAY_BENCH_HOME, or one in the user's cache."""
    if override is not None:
        return override
    if given := os.environ.get("TESSARRAY_BENCH_HOME"):
        return Path(given).absolute()
    if sys.platform == "win32":
        cache = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    else:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "tessarray" / "bench"


def groups() -> dict[str, Group]:
    """The groups by name."""
    return {"peers": Group("peers", (3, 12)), "atlas": Group("atlas", (3, 12))}


def interpreter(folder: Path) -> Path:
    """The Python of a virtual environment."""
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


# ---- install


def install(group: Group, folder: Path, say: Callable[[str], object]) -> Path:
    """Make the environment of a group in `folder`, if it is not there as the lock file says; return its Python.

    An environment that is half made has no stamp, and is made anew. Raises `EnvironmentError_`.
    """
    place = folder / group.name
    wanted = hashlib.sha256(group.lock.read_bytes()).hexdigest()
    if _stamp(place).get("lock") == wanted and interpreter(place).exists():
        say(f"{group.name}: up to date in {place}")
        return interpreter(place)
    base, version = best_python(group.least)
    say(f"{group.name}: installing into {place} with Python {version[0]}.{version[1]}, which takes minutes")
    shutil.rmtree(place, ignore_errors=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    _run([base, "-m", "venv", "--without-pip", str(place)], f"{group.name}: no virtual environment")
    python = interpreter(place)
    try:
        _run(_uv(python, group.lock), f"{group.name}: uv cannot install {group.lock.name}")
    except EnvironmentError_:
        _run([str(python), "-m", "ensurepip", "--default-pip"], f"{group.name}: no pip")
        pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--quiet"]
        _run(
            [*pip, "--only-binary", ":all:", "-r", str(group.lock)],
            f"{group.name}: pip cannot install {group.lock.name}",
        )
    stamp = {"lock": wanted, "python": f"{version[0]}.{version[1]}"}
    (place / STAMP).write_text(json.dumps(stamp), encoding="utf-8")
    say(f"{group.name}: installed")
    return python


def _uv(python: Path, lock: Path) -> list[str]:
    """What installs a lock file in seconds, if uv is beside the bench or on PATH; links files that it has already."""
    beside = importlib.util.find_spec("uv") is not None
    uv = [sys.executable, "-m", "uv"] if beside else ["uv"]
    return [
        *uv,
        "pip",
        "install",
        "--quiet",
        "--python",
        str(python),
        "--only-binary",
        ":all:",
        "-r",
        str(lock),
    ]


def best_python(least: tuple[int, int]) -> tuple[str, tuple[int, int]]:
    """The interpreter to make an environment with: at least `least`, of the preferred versions where there is one."""
    found: dict[tuple[int, int], str] = {}
    for candidate in _candidates():
        version, executable = _version(candidate)
        if version >= least:
            found.setdefault(version, executable)
    if not found:
        wanted = f"{least[0]}.{least[1]}"
        raise EnvironmentError_(
            f"no CPython >= {wanted} with the venv module found: install one and put it on PATH"
        )
    order = {version: place for place, version in enumerate(PREFERRED)}
    version = min(found, key=lambda v: (order.get(v, len(order)), v))
    return found[version], version


def _candidates() -> Iterator[str]:
    yield sys.executable
    for major, minor in PREFERRED:
        if there := shutil.which(f"python{major}.{minor}"):
            yield there
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    if root.is_dir():
        yield from (str(interpreter(version)) for version in sorted(root.iterdir(), reverse=True))
    yield from filter(None, (shutil.which("python3"), shutil.which("python")))


def _version(python: str) -> tuple[tuple[int, int], str]:
    """The version of an interpreter that starts (a pyenv shim may not) and can make environments, else (0, 0)."""
    try:
        done = subprocess.run([python, "-c", ABOUT], capture_output=True, text=True, timeout=30)
        major, minor, kind, executable = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return (0, 0), ""
    return ((major, minor), executable) if kind == "cpython" else ((0, 0), "")


def _stamp(place: Path) -> dict[str, Any]:
    try:
        found = json.loads((place / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _run(command: list[str], what: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise EnvironmentError_(f"{what}: {error}") from None
    if done.returncode:
        lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        telling = [line for line in lines if line.lstrip().lower().startswith("error")] or lines[-5:]
        raise EnvironmentError_("\n  ".join([what, *telling[:10]]))


# ---- probe


def probe(systems: Iterable[type[System]], override: Path | None = None) -> dict[str, Found]:
    """Where each system runs: the interpreter of the bench for `own`, else its group's environment if that has its
    modules, else the interpreter of the bench if it has. One process an interpreter; no system is imported."""
    asked = list(systems)
    here, folder, known = Path(sys.executable), home(override), groups()
    modules = sorted({module for system in asked for module in system.modules})
    distributions = sorted({name for system in asked for name in _distributions(system)})
    seen: dict[Path, dict[str, Any] | None] = {}

    def look(python: Path) -> dict[str, Any] | None:
        if python not in seen:
            seen[python] = _look(python, modules, distributions)
        return seen[python]

    found = {}
    for system in asked:
        places = [(here, "own")]
        if system.environment in known:
            places.insert(0, (interpreter(folder / system.environment), system.environment))
        for python, name in places:
            facts = look(python)
            if facts is not None and all(facts["modules"][module] for module in system.modules):
                versions = {d: facts["versions"][d] for d in _distributions(system) if facts["versions"][d]}
                found[system.name] = Found(python, name, facts["python"], versions)
                break
        else:
            bring = (
                f"{COMMAND} {system.environment}"
                if system.environment in known
                else getattr(system, "install", "")
            )
            found[system.name] = Found(None, system.environment, reason=bring)
    return found


def _distributions(system: type[System]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*(system.distributions or system.modules), "numpy")))


def _look(python: Path, modules: list[str], distributions: list[str]) -> dict[str, Any] | None:
    """What one interpreter has, or None where there is no such interpreter."""
    if not python.exists():
        return None
    asked = json.dumps({"modules": modules, "distributions": distributions})
    done = subprocess.run([str(python), "-P", "-c", LOOK], input=asked, capture_output=True, text=True)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["no output"]
        raise EnvironmentError_(
            f"{python} does not start: {last[0]}; `{COMMAND}` makes it anew where it is ours"
        )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


# ---- lock


def lock(group: Group) -> None:
    """Resolve a group's requirements into its lock file, for every Python from `least` on and every platform."""
    oldest = f"{group.least[0]}.{group.least[1]}"
    command = [
        sys.executable,
        "-m",
        "uv",
        "pip",
        "compile",
        "--quiet",
        "--universal",
        "--python-version",
        oldest,
    ]
    plain = ["--no-header", "--no-annotate", "--no-emit-index-url", "--upgrade"]
    _run([*command, *plain, str(group.requirements), "-o", str(group.lock)], f"{group.name}: not resolved")


if __name__ == "__main__":
    for each in groups().values():
        if sys.argv[1:] == ["install"]:
            install(each, home(), print)
        else:
            lock(each)
