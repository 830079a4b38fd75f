"""The Python and shell blocks of the README and of docs/ run, in order, each page in a folder of its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# A fenced block; one with `no-run` after its language is shown and not run.
BLOCK = re.compile(r"^```(python|console)[ \t]*([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> list[tuple[int, str]]:
    text = page.read_text(encoding="utf-8")
    return [
        (text.count("\n", 0, found.start()) + 2, found[3])
        for found in BLOCK.finditer(text)
        if found[1] == language and "no-run" not in found[2]
    ]


def with_blocks(language: str) -> list:
    return [pytest.param(page, id=page.name) for page in PAGES if blocks(page, language)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_fence_of_a_block_stands_alone_on_its_line(page):
    """A fence within a line is no block: nothing in it would be run here, or shown as code."""
    lines = page.read_text(encoding="utf-8").splitlines()
    within = [number for number, line in enumerate(lines, 1) if "```" in line.lstrip()[1:].lstrip("`")]
    fences = [line for line in lines if line.startswith("```")]
    assert within == [] and len(fences) % 2 == 0


@pytest.mark.parametrize("page", with_blocks("python"))
def test_the_python_blocks_of_a_page_run(page, tmp_path):
    # Blank lines in front of each block keep the line numbers of the page in the trace.
    source = ""
    for line, code in blocks(page, "python"):
        source += "\n" * (line - 1 - source.count("\n")) + code
    # Not `collections.py`, which is a module that others import.
    script = tmp_path / f"page-{page.stem}.py"
    script.write_text(source, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, f"{page.name}:\n{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize("page", with_blocks("console"))
def test_the_commands_of_a_page_run(page, tmp_path):
    """Lines that start with `$ ` are commands; they see the files that the page's Python blocks left."""
    source = "\n".join(code for _, code in blocks(page, "python"))
    subprocess.run([sys.executable, "-c", source], cwd=tmp_path, check=True, capture_output=True, timeout=200)
    command = shutil.which("tessarray", path=str(Path(sys.executable).parent)) or shutil.which("tessarray")
    assert command, "the command `tessarray` is not installed"
    path = os.pathsep.join([str(Path(command).parent), os.environ["PATH"]])
    for _, text in blocks(page, "console"):
        for line in text.splitlines():
            if line.startswith("$ "):
                done = subprocess.run(
                    ["sh", "-c", line[2:]],
                    cwd=tmp_path,
                    env={**os.environ, "PATH": path},
                    capture_output=True,
                    text=True,
                    timeout=200,
                    check=False,
                )
                assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"


LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#]+)")


@pytest.mark.parametrize(
    "page", [pytest.param(page, id=page.name) for page in [*ROOT.glob("*.md"), *PAGES[1:]]]
)
def test_every_link_to_a_file_leads_to_one(page):
    text = page.read_text(encoding="utf-8")
    for target in LINK.findall(text):
        assert (page.parent / target).exists(), target


def test_the_readme_shows_the_two_commands_of_a_newcomer():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in text and "make test" in text
