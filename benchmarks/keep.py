"""Makes of results files what the repository keeps: `.venv/bin/python benchmarks/keep.py [FOLDER]`.

Each `NAME.json` becomes `NAME.json.xz` beside it, with numbers of six significant digits: no timer knows more, and it
halves the size. `tessarray bench` and `summary.py` read both; git keeps the compressed ones alone.
"""

from __future__ import annotations

import json
import lzma
import sys
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def main(folder: Path = RESULTS) -> int:
    for path in sorted(folder.glob("*.json")):
        if path.name == "engine-bars.json":  # its table is kept
            continue
        text = json.dumps(rounded(json.loads(path.read_text(encoding="utf-8"))), separators=(",", ":"))
        packed = lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME)
        path.with_suffix(".json.xz").write_bytes(packed)
    print(f"{sum(path.stat().st_size for path in folder.glob('*.xz')):,} bytes in {folder}")
    return 0


def rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, list) else value


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
