"""A failed fsync closes a durable store for writes, and each error after it still says what went wrong."""

from __future__ import annotations

import subprocess
import sys

import pytest
from test_powerloss import REASON

pytestmark = pytest.mark.skipif(REASON is not None, reason=REASON or "")

WRITER = """
import sys, tessarray, tessarray.errors
store = tessarray.LocalStore(sys.argv[1], durable=True)
for name in ("a", "b/c", "d"):
    try:
        store.put(name, b"x")
        print("stored")
    except tessarray.errors.StoreError as error:
        print("refused", error.errno, "Input/output error" in str(error), isinstance(error, OSError))
"""


@pytest.mark.parametrize("failing", range(1, 9))
def test_whichever_fsync_fails_no_write_is_reported_afterwards_and_the_cause_stays_known(tmp_path, failing):
    inject = ["-e", "trace=fsync", "-e", f"inject=fsync:error=EIO:when={failing}"]
    command = ["strace", "-f", "-o", str(tmp_path / "trace"), *inject, sys.executable, "-c", WRITER]
    root = tmp_path / "deep" / "root"
    done = subprocess.run([*command, str(root)], capture_output=True, text=True, check=True)
    said = done.stdout.splitlines()
    refused = said.index("refused 5 True True") if "refused 5 True True" in said else len(said)
    assert said == ["stored"] * refused + ["refused 5 True True"] * (3 - refused), said
    assert refused < 3 or (tmp_path / "trace").read_text().count("fsync(") < failing
