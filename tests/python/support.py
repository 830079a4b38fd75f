"""What several test files share: the scale of random tests, and work done in another process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SHARED_DATA = ROOT.parent / "shared" / "data"
MIB = 1 << 20

# Nightly runs set this to 10 or more: random tests run that much longer.
SCALE = max(1.0, float(os.environ.get("TESSARRAY_TEST_SCALE", "1")))


def scaled(count: int) -> int:
    return round(count * SCALE)


PREAMBLE = """
import json, os, resource, sys, time
from pathlib import Path
import numpy as np
import tessarray

def peak():
    '''The most resident memory since reset_peak(), in bytes.'''
    for line in Path('/proc/self/status').read_text().splitlines():
        if line.startswith('VmHWM'):
            return int(line.split()[1]) * 1024
    raise RuntimeError('no VmHWM')

def reset_peak():
    Path('/proc/self/clear_refs').write_text('5')
    return peak()

def answer(**values):
    print('\\n' + json.dumps(values), flush=True)
"""


class DiedError(Exception):
    """A child process was ended by a signal or an abort, or ended with a trace."""


def in_new_process(body: str, *arguments: Any, timeout: float = 120, **environment: str) -> dict[str, Any]:
    """Run `body` in a fresh Python with tessarray imported; returns what it passed to `answer(...)` last.

    `sys.argv[1:]` holds the arguments. A panic, an abort or an exception is `DiedError` with what it printed.
    """
    source = PREAMBLE + textwrap.dedent(body)
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", source, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env={**os.environ, **environment},
    )
    if done.returncode != 0:
        raise DiedError(f"exit status {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    answers = [line for line in done.stdout.splitlines() if line.startswith("{")]
    result: dict[str, Any] = json.loads(answers[-1])
    return result
