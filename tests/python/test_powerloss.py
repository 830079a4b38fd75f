"""Losses of power, simulated from traces of real runs (`tools/powerloss`): no durable write is gone.

The first tests show that the simulator finds what it is for."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import scaled

TOOL = Path(__file__).resolve().parents[2] / "tools" / "powerloss"
IMAGES = scaled(40)
SCENARIOS = sorted(path.stem for path in (TOOL / "scenarios").glob("[!_]*.py"))


def traceable() -> str | None:
    """Why nothing can be traced here; none where it can."""
    if shutil.which("strace") is None:
        return "strace is not installed (apt-get install strace)"
    tried = subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True, text=True, check=False)
    return None if tried.returncode == 0 else f"strace may not trace here: {tried.stderr.strip()[:200]}"


REASON = traceable()
pytestmark = pytest.mark.skipif(REASON is not None, reason=REASON or "")


def simulate(*arguments: str) -> tuple[int, str]:
    command = [sys.executable, str(TOOL), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


WRITER = """
import os

def run(root, acknowledge):
    os.mkdir(root)
    {above}
    for i in range(20):
        new = root / "value.new"
        file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.write(file, f"{{i}} ".encode() * 700)
        {sync}
        os.close(file)
        os.rename(new, root / "value")
        {folder}
        acknowledge(f"wrote {{i}}")

def check(root, acknowledged):
    if acknowledged:
        words = (root / "value").read_text().split()
        assert len(words) == 700 and len(set(words)) == 1, words[:3]
        assert int(words[0]) >= int(acknowledged[-1].split()[1]), words[0]
"""
SYNC, FOLDER = "os.fsync(file)", "sync(root)"
ABOVE = "sync = lambda at: os.fsync(os.open(at, os.O_RDONLY)); sync(root.parent)"
NO_ABOVE = ABOVE.split(";")[0]


@pytest.mark.parametrize(
    ("above", "sync", "folder", "strict", "ordered"),
    [
        (ABOVE, SYNC, FOLDER, True, True),
        (ABOVE, "pass", FOLDER, False, False),
        (ABOVE, SYNC, "pass", False, False),
        # The names survive in order all the same: an fsync of anything takes those before it along.
        (NO_ABOVE, SYNC, FOLDER, False, True),
    ],
    ids=["careful", "no sync of the file", "no sync of the folder", "no sync of the folder's name"],
)
def test_what_was_not_synced_is_found_out(tmp_path, above, sync, folder, strict, ordered):
    script = tmp_path / "writer.py"
    script.write_text(WRITER.format(above=above, sync=sync, folder=folder))
    for mode, fine in (("strict", strict), ("ordered", ordered)):
        code, said = simulate(str(script), "--images", "200", "--mode", mode)
        assert (code == 0) == fine, said
        assert ("no violation" in said) == fine, said


def test_every_moment_can_be_looked_at_and_a_bad_image_kept(tmp_path):
    script = tmp_path / "writer.py"
    script.write_text(WRITER.format(above=ABOVE, sync="pass", folder=FOLDER))
    kept = tmp_path / "kept"
    kept.mkdir()
    code, said = simulate(
        str(script), "--images", "1", "--moments", "all", "--mode", "strict", "--keep", str(kept)
    )
    assert code == 1 and "violations" in said
    assert list(kept.glob("writer-strict-*/data")), said


def test_a_script_that_fails_is_told_as_it_fails(tmp_path):
    script = tmp_path / "broken.py"
    script.write_text("def run(root, acknowledge):\n    raise OSError('no such luck')\n\ncheck = run\n")
    code, said = simulate(str(script))
    assert code != 0 and "no such luck" in said


def test_the_scenarios_are_listed_with_what_they_show():
    code, said = simulate("--list")
    assert code == 0 and [line.split(":")[0] for line in said.splitlines()] == SCENARIOS
    assert all(len(line.split(": ", 1)[1]) > 20 for line in said.splitlines())


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_no_loss_of_power_takes_what_was_acknowledged_as_durable(scenario):
    code, said = simulate(
        scenario, "--images", str(IMAGES), "--seed", os.environ.get("TESSARRAY_TEST_SCALE", "1")
    )
    assert code == 0, said
