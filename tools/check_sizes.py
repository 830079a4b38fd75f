"""Refuse source files of 800 lines and more, and results over a megabyte; name sources over 400: they need a reason."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 800
SMELL = 400
RESULTS, MOST = Path("benchmarks/results"), 1_000_000  # bytes that every clone pays for
SUFFIXES = {".rs", ".py", ".pyi", ".sh"}


def tracked(root: Path) -> list[Path]:
    """What git tracks or would track; every file below the root where there is no git."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        check=False,
    )
    if listed.returncode == 0:
        names = [root / name for name in listed.stdout.decode().split("\0") if name]
    else:
        skipped = {"target", ".venv", "node_modules"}
        names = [path for path in root.rglob("*") if not skipped & set(path.relative_to(root).parts)]
    return sorted(path for path in names if path.is_file())


def main(root: Path = ROOT) -> int:
    too_long = 0
    files = tracked(root)
    results = sum(path.stat().st_size for path in files if root / RESULTS in path.parents)
    if results > MOST:
        print(f"{RESULTS}: {results:,} bytes: keep what benchmarks/keep.py makes ({MOST:,} is the limit)")
    for path in (path for path in files if path.suffix in SUFFIXES):
        with path.open(encoding="utf-8") as lines:
            count = sum(1 for _ in lines)
        if count >= LIMIT:
            too_long += 1
            print(f"{path.relative_to(root)}: {count} lines: split it ({LIMIT} is the limit)")
        elif count > SMELL:
            print(f"warning: {path.relative_to(root)}: {count} lines (over {SMELL})")
    print(
        f"sizes: {too_long} files of {LIMIT} lines or more"
        if too_long
        else f"sizes: every file is under {LIMIT} lines"
    )
    return 1 if too_long or results > MOST else 0


if __name__ == "__main__":
    sys.exit(main())
