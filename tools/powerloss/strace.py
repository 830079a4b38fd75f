"""A script under strace, and what its calls did to the files below one directory.

Of each call only the effect is kept: what was written where, which names came and went, what was synced.
Descriptors are known by the paths that strace prints beside them (`-y`); all texts come in hexadecimal (`-xx`), so
that parsing is simple.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CALLS = (
    "open,openat,openat2,creat,write,pwrite64,writev,pwritev,pwritev2,fsync,fdatasync,syncfs,sync,rename,renameat,"
    "renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,rmdir,mkdir,mkdirat,truncate,ftruncate,fallocate,"
    "copy_file_range,sendfile,lseek,flock,clone,clone3,fork,vfork"
)
LINE = re.compile(r"^(\d+) +(.*)$")
RESUMED = re.compile(r"^<\.\.\. \w+ resumed>(.*)$")
CALL = re.compile(r"^(\w+)\((.*)\) += (-?\d+|\?)(?:<((?:\\x[0-9a-f]{2})*)>)?.*$")
TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
BEHIND = re.compile(r"^(?:AT_FDCWD|-?\d+)<((?:\\x[0-9a-f]{2})*)>(\(deleted\))?$")


class NotUnderstoodError(Exception):
    """A call on a file below the directory that this simulator has no model of."""


@dataclass(frozen=True)
class Step:
    """One effect: `kind` is write, size, make, folder, rename, link, unlink, rmdir, sync, syncall or acknowledge."""

    kind: str
    path: str = ""
    other: str = ""
    offset: int = 0
    data: bytes = b""


def record(script: Path, root: Path, acknowledged: Path, output: Path) -> None:
    """Runs the script's `run` under strace; fails as it does."""
    child = [
        sys.executable,
        str(Path(__file__).with_name("child.py")),
        str(script),
        str(root),
        str(acknowledged),
    ]
    traced = [
        "strace",
        "-f",
        "-y",
        "-xx",
        "-s",
        str(1 << 24),
        "-o",
        str(output),
        "-e",
        f"trace={CALLS}",
        *child,
    ]
    done = subprocess.run(traced, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{script.name} failed under strace ({done.returncode}): {done.stderr[-3000:]}")


def text_of(hexadecimal: str) -> bytes:
    return bytes.fromhex(hexadecimal.replace("\\x", ""))


def split(arguments: str) -> list[str]:
    """At the commas that stand in no brackets; texts are hexadecimal and have none."""
    parts, depth, begin = [], 0, 0
    for at, char in enumerate(arguments):
        if char in "[{":
            depth += 1
        elif char in "]}":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(arguments[begin:at].strip())
            begin = at + 1
    return [*parts, arguments[begin:].strip()]


@dataclass(frozen=True)
class Call:
    task: int
    name: str
    arguments: list[str]
    result: int
    opened: str | None


def calls(lines: Iterator[str]) -> Iterator[Call]:
    """The calls that succeeded, in the order in which they ended."""
    begun: dict[int, str] = {}
    for line in lines:
        match = LINE.match(line)
        if match is None:
            continue
        task, rest = int(match[1]), match[2]
        if rest.endswith("<unfinished ...>"):
            begun[task] = rest.removesuffix("<unfinished ...>").rstrip()
            continue
        resumed = RESUMED.match(rest)
        if resumed is not None:
            rest = begun.pop(task, "") + resumed[1]
        parsed = CALL.match(rest)
        if parsed is None or parsed[3] == "?" or int(parsed[3]) < 0:
            continue
        opened = None if parsed[4] is None else os.fsdecode(text_of(parsed[4]))
        yield Call(task, parsed[1], split(parsed[2]), int(parsed[3]), opened)


class Reader:
    """Turns calls into steps; keeps the positions of descriptors, and what exists below the root."""

    def __init__(self, root: Path, acknowledged: Path, known: list[Call]) -> None:
        self.root, self.acknowledged = str(root), str(acknowledged)
        self.known = known
        self.places: dict[tuple[int, int], int] = {}
        self.owner: dict[int, int] = {}
        self.sizes: dict[str, int] = {}
        for call in known:
            if call.name in ("clone", "clone3", "fork", "vfork") and call.result > 0:
                shared = any("CLONE_FILES" in argument for argument in call.arguments)
                self.owner[call.result] = self.table(call.task) if shared else call.result

    def table(self, task: int) -> int:
        return self.owner.get(task, task)

    def inside(self, path: str) -> bool:
        return path.startswith(self.root + "/") or path == self.root

    def behind(self, argument: str) -> str | None:
        """The path of a descriptor; none where its file has no name any more."""
        match = BEHIND.match(argument)
        if match is None or match[2]:
            return None
        return os.fsdecode(text_of(match[1]))

    def path(self, folder: str, name: str) -> str:
        match = TEXT.match(name)
        found = os.fsdecode(text_of(match[1])) if match else ""
        base = self.behind(folder) or ""
        return os.path.normpath(Path(base) / found)

    def steps(self) -> Iterator[Step]:
        for call in self.known:
            yield from self.effect(call)

    def effect(self, call: Call) -> Iterator[Step]:
        name, arguments = call.name, call.arguments
        match name:
            case "open" | "creat":
                at = "AT_FDCWD<" + "".join(f"\\x{byte:02x}" for byte in os.fsencode(Path.cwd())) + ">"
                yield from self.open(call, [at, *arguments])
            case "openat" | "openat2":
                yield from self.open(call, arguments)
            case "write" | "pwrite64" | "writev" | "pwritev" | "pwritev2":
                yield from self.write(call)
            case "lseek":
                self.places[self.table(call.task), int(arguments[0].split("<")[0])] = call.result
            case "fsync" | "fdatasync":
                path = self.behind(arguments[0])
                if path is not None and self.inside(path):
                    yield Step("sync", path)
            case "sync" | "syncfs":
                yield Step("syncall")
            case "ftruncate" | "truncate":
                path = self.behind(arguments[0]) if name == "ftruncate" else self.path("", arguments[0])
                if path is not None and self.inside(path):
                    yield Step("size", path, offset=int(arguments[1]))
            case _:
                yield from self.rename(name, arguments)

    def open(self, call: Call, arguments: list[str]) -> Iterator[Step]:
        # Of links in the path strace knows the end.
        path = call.opened or self.path(arguments[0], arguments[1])
        flags = arguments[2] if len(arguments) > 2 else ""
        self.places[self.table(call.task), call.result] = 0
        if not self.inside(path) or "O_DIRECTORY" in flags or "O_PATH" in flags:
            return
        if "O_CREAT" in flags or call.name == "creat":
            yield Step("make", path)
        if "O_TRUNC" in flags or call.name == "creat":
            yield Step("size", path, offset=0)
        if "O_APPEND" in flags:
            self.places[self.table(call.task), call.result] = -1

    def write(self, call: Call) -> Iterator[Step]:
        arguments = call.arguments
        path = self.behind(arguments[0])
        if path == self.acknowledged:
            for line in b"".join(map(text_of, TEXT.findall(arguments[1]))).splitlines():
                yield Step("acknowledge", data=line)
            return
        if path is None or not self.inside(path):
            return
        data = b"".join(map(text_of, TEXT.findall(arguments[1])))[: call.result]
        if len(data) != call.result:
            raise NotUnderstoodError(
                f"{call.name} of {call.result} bytes to {path}: {len(data)} in the trace"
            )
        if call.name in ("pwrite64", "pwritev", "pwritev2"):
            yield Step("write", path, offset=int(arguments[3]), data=data)
            return
        place = self.table(call.task), int(arguments[0].split("<")[0])
        offset = self.places.get(place, 0)
        yield Step("write", path, offset=offset, data=data)
        if offset >= 0:
            self.places[place] = offset + len(data)

    def rename(self, name: str, arguments: list[str]) -> Iterator[Step]:
        match name:
            case "rename" | "link":
                one, two = self.path("", arguments[0]), self.path("", arguments[1])
            case "renameat" | "renameat2" | "linkat":
                one, two = self.path(arguments[0], arguments[1]), self.path(arguments[2], arguments[3])
            case "unlink" | "rmdir" | "mkdir":
                one, two = self.path("", arguments[0]), ""
            case "unlinkat" | "mkdirat":
                one, two = self.path(arguments[0], arguments[1]), ""
            case "flock" | "clone" | "clone3" | "fork" | "vfork":
                return
            case _:
                paths = [self.behind(argument) for argument in arguments]
                if any(path is not None and self.inside(path) for path in paths):
                    raise NotUnderstoodError(f"{name} of {paths}")
                return
        if not (self.inside(one) or (two and self.inside(two))):
            return
        kinds = {"mkdir": "folder", "mkdirat": "folder", "rmdir": "rmdir", "unlink": "unlink"}
        kind = kinds.get(name) or ("rename" if name.startswith("rename") else "link")
        if name == "unlinkat":
            kind = "rmdir" if "AT_REMOVEDIR" in arguments[2] else "unlink"
        yield Step(kind, one, two)


def steps(trace: Path, root: Path, acknowledged: Path) -> list[Step]:
    """All effects of a recorded run, in order."""
    with trace.open(errors="surrogateescape") as lines:
        known = list(calls(iter(lines)))
    return list(Reader(root, acknowledged, known).steps())
