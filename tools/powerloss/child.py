"""Runs the `run` function of a scenario: the process that strace watches."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path


def main() -> None:
    script, root, acknowledged = sys.argv[1:4]
    sys.path.insert(0, str(Path(script).parent))
    descriptor = os.open(acknowledged, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    run = runpy.run_path(script)["run"]
    run(Path(root), lambda text: os.write(descriptor, f"{text}\n".encode()))


if __name__ == "__main__":
    main()
