"""Loss of power, simulated from real runs: what of an acknowledged write may be gone?

A scenario is a Python file with two functions:

    def run(root, acknowledge):      # works below `root`, which does not exist yet; says `acknowledge("text")` whenever
        ...                          # something must stay from now on
    def check(root, acknowledged):   # raises where `root`, an image of the disk, lacks what was acknowledged, or holds
        ...                          # what never was

`run` is executed once, under strace. Its calls are replayed up to many moments, and of each moment an image of the
disk is made as a loss of power may leave it: of what was not synced any part is gone, zeros, or torn at 512 bytes.
Then `check` looks at the image. Names survive in order with `--mode ordered` (ext4, XFS); with `--mode strict` (all
that POSIX promises) each one needs an fsync of its directory.

    python tools/powerloss --list
    python tools/powerloss pack_mixed --images 3000
    python tools/powerloss my_scenario.py --mode strict --moments all --keep /tmp/bad

Exit code 1 where a check failed, 2 where strace is missing. It needs Linux, strace, and an installed tessarray.
"""

from __future__ import annotations

import argparse
import ast
import random
import runpy
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import strace
from disk import Disk

HERE = Path(__file__).resolve().parent
MODES = ("strict", "ordered")
MEMORY = Path("/dev/shm")


@dataclass
class Result:
    """How a scenario went in one mode."""

    scenario: str
    mode: str
    images: int
    steps: int
    acknowledged: int
    violations: int
    first: str = ""

    def __str__(self) -> str:
        found = f"{self.violations} violations" if self.violations else "no violation"
        return (
            f"{self.scenario}, {self.mode}: {self.images} images of {self.steps} steps with "
            f"{self.acknowledged} acknowledgements: {found}"
        )


def scenarios() -> dict[str, Path]:
    return {path.stem: path for path in sorted((HERE / "scenarios").glob("[!_]*.py"))}


def moments(steps: list[strace.Step], how: str, images: int, chance: random.Random) -> list[int]:
    """After how many steps the power goes, image by image."""
    after = [at + 1 for at, step in enumerate(steps) if step.kind == "acknowledge"]
    if how == "all":
        every = range(len(steps) + 1)
        return sorted(at for at in every for _ in range(max(1, images // len(every))))
    if how == "acknowledged":
        return sorted(chance.choices(after, k=images))
    some = chance.choices(after, k=images // 2) if after else []
    return sorted([*some, *(chance.randint(0, len(steps)) for _ in range(images - len(some)))])


def examine(
    name: str,
    steps: list[strace.Step],
    base: Path,
    check: Callable[[Path, list[str]], None],
    given: argparse.Namespace,
) -> list[Result]:
    results = []
    for mode in MODES if given.mode == "both" else (given.mode,):
        chance = random.Random(f"{given.seed} {name} {mode}")
        disk, done = Disk(base), 0
        when = moments(steps, given.moments, given.images, chance)
        count = sum(step.kind == "acknowledge" for step in steps)
        result = Result(name, mode, len(when), len(steps), count, 0)
        for number, moment in enumerate(when):
            for step in steps[done:moment]:
                disk.apply(step)
            done = max(done, moment)
            scratch = tempfile.mkdtemp(prefix="powerloss-", dir=MEMORY if MEMORY.is_dir() else None)
            image = Path(scratch) / "disk"
            disk.image(image, mode, chance)
            try:
                check(image / "data", list(disk.acknowledged))
            except Exception:
                result.violations += 1
                if not result.first:
                    result.first = f"image {number}, after step {moment}:\n{traceback.format_exc()}"
                    if given.keep:
                        shutil.copytree(image, given.keep / f"{name}-{mode}-{number}")
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
        results.append(result)
    return results


def simulate(script: Path, given: argparse.Namespace) -> list[Result]:
    """Runs a scenario, and looks at its images."""
    with tempfile.TemporaryDirectory(prefix="powerloss-") as scratch:
        work = Path(scratch).resolve()
        base, acknowledged, trace = work / "disk", work / "acknowledged", work / "trace"
        base.mkdir()
        strace.record(script, base / "data", acknowledged, trace)
        steps = strace.steps(trace, base, acknowledged)
        sys.path.insert(0, str(script.parent))
        check = runpy.run_path(str(script))["check"]
        return examine(script.stem, steps, base, check, given)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tools/powerloss", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scenario", nargs="*", help="names (see --list) or files; default: all")
    parser.add_argument("--list", action="store_true", help="name the scenarios that are there, and end")
    parser.add_argument("--images", type=int, default=300, help="images in each mode (default: 300)")
    parser.add_argument("--mode", choices=[*MODES, "both"], default="both", help="which names survive")
    parser.add_argument(
        "--moments",
        choices=["random", "all", "acknowledged"],
        default="random",
        help="when the power goes: at random moments, half of them right after an acknowledgement (default); at every "
        "step; only right after acknowledgements",
    )
    parser.add_argument("--seed", default="1", help="of the random numbers (default: 1)")
    parser.add_argument("--keep", type=Path, help="a folder to copy the first bad image of each scenario to")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    given, known = parse(arguments), scenarios()
    if given.list:
        for path in known.values():
            about = ast.get_docstring(ast.parse(path.read_text())) or ""
            print(f"{path.stem}: {about.splitlines()[0]}")
        return 0
    if shutil.which("strace") is None:
        print("strace is not installed (on Debian and Ubuntu: apt-get install strace)", file=sys.stderr)
        return 2
    bad = 0
    for name in given.scenario or known:
        for result in simulate(known.get(name) or Path(name).resolve(), given):
            print(result, flush=True)
            if result.violations:
                bad += 1
                print(result.first, flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
