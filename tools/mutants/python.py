"""Mutants of Python files: each a copy of the file with one change, tried by the tests named."""

from __future__ import annotations

import ast
import copy
import importlib
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from planted import ROOT, Verdict, chosen, part_of

COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Add,
}  # fmt: skip


@dataclass(frozen=True)
class Change:
    file: str
    line: int
    what: str
    source: str


@dataclass
class PythonLane:
    """Files, and the arguments of pytest that choose the tests which are to catch their mutants.

    `imports`: packages of others that those use; they are imported once, and each mutant is tried in a fork.
    """

    files: list[str]
    tests: list[str]
    imports: list[str]

    def run(self, endings: Sequence[str], part: str, list_only: bool) -> list[Verdict]:
        changes = [
            c for path in chosen([ROOT / name for name in self.files], endings) for c in changes_of(path)
        ]
        print(f"python: {len(changes)} mutants", flush=True)
        if list_only:
            for change in changes:
                print(f"{change.file}:{change.line}: {change.what}")
            return []
        for name in self.imports if changes else ():
            importlib.import_module(name)
        context = multiprocessing.get_context("fork")
        with context.Pool(len(os.sched_getaffinity(0)), maxtasksperchild=1) as pool:
            if changes and not pool.apply(passes, (self.tests, None)):
                raise SystemExit("the tests fail without a mutant")
            wanted = part_of(changes, part)
            verdicts = []
            for change, passed in zip(
                wanted, pool.imap(tried, [(self.tests, c) for c in wanted]), strict=True
            ):
                print("S" if passed else ".", end="", flush=True)
                verdicts.append(Verdict(change.file, change.line, change.what, not passed, 1))
        print()
        return verdicts


def tried(job: tuple[list[str], Change]) -> bool:
    return passes(*job)


def passes(tests: list[str], change: Change | None) -> bool:
    """Run tests over a package of links to our files, but for the one that is changed; in a process of its own."""
    import pytest

    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    with tempfile.TemporaryDirectory() as scratch:
        link(
            ROOT / "python" / "tessarray", Path(scratch) / "tessarray", ROOT / change.file if change else None
        )
        if change is not None:
            (Path(scratch) / Path(change.file).relative_to("python")).write_text(change.source)
        sys.path.insert(0, scratch)
        sys.dont_write_bytecode = True
        os.chdir(ROOT)
        options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "timeout=60"]
        return pytest.main([*options, *tests]) == pytest.ExitCode.OK


def link(source: Path, copy_of: Path, changed: Path | None) -> None:
    """A folder of links to the files of another; what holds the changed file is made of links itself."""
    copy_of.mkdir()
    for entry in source.iterdir():
        if changed is not None and (entry == changed or entry in changed.parents):
            if entry.is_dir():
                link(entry, copy_of / entry.name, changed)
        elif entry.name != "__pycache__":
            (copy_of / entry.name).symlink_to(entry)


def changes_of(path: Path) -> Iterator[Change]:
    tree = ast.parse(path.read_text())
    places = [n for n in ast.walk(tree) if hasattr(n, "lineno")]
    for number, node in enumerate(places):
        for variant, what in variants(node):
            changed = copy.deepcopy(tree)
            target = [n for n in ast.walk(changed) if hasattr(n, "lineno")][number]
            Put(target, variant).visit(changed)
            source = ast.unparse(ast.fix_missing_locations(changed))
            before = ast.unparse(node).splitlines()[0]
            name = str(path.relative_to(ROOT))
            yield Change(name, node.lineno, f"`{before}`: {what}", source)


class Put(ast.NodeTransformer):
    """Puts a node, or nothing, in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


def variants(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """What could stand in the place of a node."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
        other = COMPARISONS[type(node.ops[0])]
        yield (
            ast.Compare(node.left, [other()], node.comparators),
            f"{type(node.ops[0]).__name__} to {other.__name__}",
        )
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        other = OPERATORS[type(node.op)]
        yield ast.BinOp(node.left, other(), node.right), f"{type(node.op).__name__} to {other.__name__}"
    elif isinstance(node, ast.BoolOp):
        swapped = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield ast.BoolOp(swapped, node.values), "`and` and `or` swapped"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield node.operand, f"{type(node.op).__name__} dropped"
    elif isinstance(node, ast.If | ast.IfExp) and isinstance(node.test, ast.Name | ast.Attribute | ast.Call):
        negated = copy.copy(node)
        negated.test = ast.UnaryOp(ast.Not(), node.test)
        yield negated, "negated"
    elif (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)) or isinstance(node, ast.AugAssign):
        yield ast.Pass(), "left out"
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield ast.Constant(node.value + 1), "one more"
    elif isinstance(node, ast.Return) and node.value is not None:
        yield ast.Return(ast.Constant(None)), "returns None"
