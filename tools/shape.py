"""Measure the shape of the source: sizes, unsafe code, circles, names with several meanings, documentation.

    python tools/shape.py            # a table of figures for the tree
    python tools/shape.py --names    # and the names that several modules of one crate define
    python tools/shape.py --root DIR # the same of another checkout

The figures come from the text alone (nothing is compiled): test modules, tests, benches and examples are left out.
A circle is a set of modules of one crate that use each other in a loop, as `use` and paths from `crate::` and `super::`
say; a name that a crate's root hands on (`pub use`) counts for the module that defines it.
"""

from __future__ import annotations

import argparse
import ast
import re
import statistics
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = {"tests", "benches", "examples", "__pycache__"}
ITEM = re.compile(r"^(?:pub(?:\([^)]*\))? )?(?:unsafe )?(?:struct|enum|trait|union|type) (\w+)", re.M)
PUBLIC = re.compile(
    r"^( *)pub (?:const |async |unsafe |extern \"C\" )*(fn|struct|enum|trait|type|mod|const|static|union) (\w+)",
    re.M,
)
FALLIBLE = re.compile(r"^ *pub (?:const |unsafe )*fn \w+[^;{]*->\s*(?:[\w:]*::)?Result\b", re.M)
UNSAFE = re.compile(r"\bunsafe (?:\{|fn|impl|trait|extern)|\bunsafe\{")


def without_comments(text: str) -> str:
    """The code with comments and the contents of strings blanked, line for line."""
    text = re.sub(r"//[^\n]*", "", text)
    return re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)


def without_tests(text: str) -> str:
    """The code before the file's test module, if it has one."""
    found = re.search(r"^#\[cfg\(.*\btest\b.*\)\]\s*\n(?:#\[.*\]\s*\n)*mod \w+ \{", text, re.M)
    return text[: found.start()] if found else text


class Crate:
    """The modules of one crate, by path: `("file", "lock")` for src/file/lock.rs, `()` for lib.rs."""

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        self.text: dict[tuple[str, ...], str] = {}
        source = folder / "src"
        for path in sorted(source.rglob("*.rs")):
            parts = path.relative_to(source).with_suffix("").parts
            if TESTS & set(parts) or parts[-1] in ("tests", "main", "test"):
                continue
            if parts[-1] in ("mod", "lib"):
                parts = parts[:-1]
            self.text[parts] = without_tests(path.read_text())

    def definers(self) -> dict[str, list[tuple[str, ...]]]:
        """Type name -> the modules that define it."""
        out: dict[str, list[tuple[str, ...]]] = defaultdict(list)
        for module, text in self.text.items():
            for name in ITEM.findall(without_comments(text)):
                out[name].append(module)
        return out

    def functions(self) -> dict[tuple[str, ...], set[str]]:
        pattern = re.compile(
            r"^(?:pub(?:\([^)]*\))? )?(?:const )?(?:unsafe )?(?:fn|static|const) (\w+)", re.M
        )
        return {module: set(pattern.findall(text)) for module, text in self.text.items()}

    def arrows(self) -> dict[tuple[str, ...], set[tuple[str, ...]]]:
        """Which module uses which. Names of the root are traced to the module that defines them, if it is one."""
        types = {name: at[0] for name, at in self.definers().items() if len(at) == 1}
        out: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
        for module, text in self.text.items():
            code = without_comments(text)
            used: set[tuple[str, ...]] = set()
            for path in self.paths(code, module):
                at = path
                while at and at not in self.text:
                    at = at[:-1]
                rest = path[len(at) :]
                if at != module and not (rest and at == module[: len(at)] and rest[0] in types):
                    target = at
                elif rest and rest[0] in types:
                    target = types[rest[0]]
                else:
                    continue
                # What a folder's face or the root hands on belongs to the module that defines it.
                if rest and rest[0] in types and target == types[rest[0]][: len(target)]:
                    target = types[rest[0]]
                if target != module and target != () and not (rest == () and module[: len(target)] == target):
                    used.add(target)
            out[module] = used
        return out

    def paths(self, code: str, module: tuple[str, ...]) -> list[tuple[str, ...]]:
        out: list[tuple[str, ...]] = []
        for found in re.finditer(r"\b(crate|super|self)((?:::super)*)::(?=[\w{*])", code):
            if found[1] == "crate":
                base: tuple[str, ...] = ()
            elif found[1] == "self":
                base = module
            else:
                base = module[: len(module) - 1 - found[2].count("super")]
            out += [base + path for path in expand(code, found.end())]
        return out


def expand(code: str, at: int) -> list[tuple[str, ...]]:
    """The paths of a use tree (or of a plain path) that begins at `at`."""
    parts: list[str] = []
    while at < len(code):
        if word := re.compile(r"\w+").match(code, at):
            parts.append(word[0])
            at = word.end()
            if code.startswith("::", at):
                at += 2
                continue
            return [tuple(parts)]
        if code[at] == "{":
            out: list[tuple[str, ...]] = []
            depth, start = 1, at + 1
            position = start
            while position < len(code) and depth:
                if code[position] == "{":
                    depth += 1
                elif code[position] == "}":
                    depth -= 1
                if depth == 0 or (depth == 1 and code[position] == ","):
                    piece = code[start:position].strip()
                    if piece and re.match(r"[\w{]", piece):
                        out += [tuple(parts) + path for path in expand(piece, 0) if path != ("self",)]
                        if re.match(r"self\b", piece):
                            out.append(tuple(parts))
                    start = position + 1
                position += 1
            return out
        return [tuple(parts)]
    return [tuple(parts)]


def circles(arrows: dict[tuple[str, ...], set[tuple[str, ...]]]) -> list[list[tuple[str, ...]]]:
    """Sets of two modules or more that reach each other (strongly connected components)."""
    index: dict[tuple[str, ...], int] = {}
    low: dict[tuple[str, ...], int] = {}
    stack: list[tuple[str, ...]] = []
    out: list[list[tuple[str, ...]]] = []

    def visit(node: tuple[str, ...]) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(arrows.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            part: list[tuple[str, ...]] = []
            while not part or part[-1] != node:
                part.append(stack.pop())
            if len(part) > 1:
                out.append(sorted(part))

    for node in sorted(arrows):
        if node not in index:
            visit(node)
    return out


def documented(text: str) -> tuple[int, int, int, int]:
    """(documented, public items, fallible functions with `# Errors`, fallible functions)."""
    lines = text.splitlines()
    done = items = told = fallible = 0
    for found in PUBLIC.finditer(text):
        if found[2] == "mod":
            continue
        number = text.count("\n", 0, found.start())
        comment: list[str] = []
        at = number - 1
        while at >= 0 and (
            lines[at].lstrip().startswith(("///", "#[", "#![")) or lines[at].strip().endswith(")]")
        ):
            comment.append(lines[at])
            at -= 1
        items += 1
        done += any(line.lstrip().startswith("///") for line in comment)
        if FALLIBLE.match(text, found.start()):
            fallible += 1
            told += any("# Errors" in line for line in comment)
    return done, items, told, fallible


def python_documented(path: Path) -> tuple[int, int]:
    done = items = 0
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        body = getattr(node, "body", [])
        if not isinstance(node, ast.Module | ast.ClassDef):
            continue
        for child in body:
            named = isinstance(child, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef)
            if named and not child.name.startswith("_"):
                items += 1
                done += ast.get_docstring(child) is not None
    return done, items


def spread(sizes: list[int]) -> str:
    ordered = sorted(sizes)
    p90 = ordered[int(0.9 * (len(ordered) - 1))]
    over = sum(size > 400 for size in sizes)
    return (
        f"{len(sizes)} files, {sum(sizes)} lines; median {statistics.median(sizes):.0f}, "
        f"p90 {p90}, max {ordered[-1]}, {over} over 400"
    )


def show(path: tuple[str, ...]) -> str:
    return "/".join(path) or "lib"


def rust(root: Path, names: bool) -> None:
    crates = [Crate(folder.parent) for folder in sorted(root.glob("crates/*/src"))]
    print("Rust:", spread([text.count("\n") for crate in crates for text in crate.text.values()]))
    print()
    head = "crate", "lines", "unsafe", "in files", "circles", "in them", "twice", "documented", "# Errors"
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for crate in crates:
        sites = {module: len(UNSAFE.findall(without_comments(text))) for module, text in crate.text.items()}
        loops = circles(crate.arrows())
        twice = {name: at for name, at in crate.definers().items() if len(at) > 1}
        docs = [documented(text) for text in crate.text.values()]
        done, items, told, fallible = (sum(column) for column in zip(*docs, strict=True))
        row = [
            crate.name.removeprefix("tessarray-"),
            sum(text.count("\n") for text in crate.text.values()),
            sum(sites.values()),
            sum(count > 0 for count in sites.values()),
            len(loops),
            sum(map(len, loops)),
            len(twice),
            f"{done} of {items}",
            f"{told} of {fallible}",
        ]
        print("| " + " | ".join(map(str, row)) + " |")
        if names:
            for loop in loops:
                print("   circle:", ", ".join(map(show, loop)))
            for name, at in sorted(twice.items()):
                print(f"   {name}:", ", ".join(map(show, at)))


def python(root: Path) -> None:
    files = [path for path in root.glob("python/**/*.py") if not TESTS & set(path.parts)]
    print("\nPython:", spread([len(path.read_text().splitlines()) for path in files]))
    groups: dict[str, list[Path]] = defaultdict(list)
    for path in files:
        parts = path.relative_to(root / "python").parts
        groups["/".join(parts[:2]) if len(parts) > 2 else parts[0]].append(path)
    print("\n| folder | files | lines | documented |\n|---|---|---|---|")
    for group, members in sorted(groups.items()):
        docs = [python_documented(path) for path in members]
        done, items = sum(d for d, _ in docs), sum(i for _, i in docs)
        lines = sum(len(path.read_text().splitlines()) for path in members)
        print(f"| {group} | {len(members)} | {lines} | {done} of {items} |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout to measure")
    parser.add_argument("--names", action="store_true", help="list circles and names with several meanings")
    chosen = parser.parse_args()
    rust(chosen.root, chosen.names)
    python(chosen.root)


if __name__ == "__main__":
    main()
