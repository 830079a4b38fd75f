"""What a disk may hold after a loss of power: the model of files, names and syncs.

A file has the bytes that its last fsync saw, and writes since. A directory has the names that its last fsync saw, and
changes since. After a loss of power each write since may be there, be gone, be zeros, or be torn at sectors of 512
bytes, and so may the new length; that holds in both modes. Names differ:

- *strict* (POSIX): each change of a name since the last fsync of its directory may be there or not, on its own. A file
  or directory below a name that is gone is gone.
- *ordered* (ext4, XFS, Btrfs in effect): changes of names come to the disk in the order in which they were made, up to
  some moment; an fsync of anything takes all before it along.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path

from strace import Step

SECTOR = 512


@dataclass
class File:
    data: bytearray = field(default_factory=bytearray)
    synced: bytes = b""
    dirty: bool = False

    def image(self, chance: random.Random) -> bytes:
        """What may be on the disk."""
        if not self.dirty:
            return self.synced
        kind = chance.choice(("old", "new", "zeros", "torn", "empty", "torn"))
        new, old = bytes(self.data), self.synced
        if kind == "old":
            return old
        if kind == "new":
            return new
        if kind == "empty":
            return b""
        length = chance.choice(
            (len(old), len(new), chance.randint(min(len(old), len(new)), max(len(old), len(new))))
        )
        out = bytearray(length)
        for begin in range(0, length, SECTOR):
            end = min(begin + SECTOR, length)
            pick = "zeros" if kind == "zeros" else chance.choice(("old", "new", "zeros"))
            changed = new[begin:end] != old[begin:end]
            source = old if pick == "old" or not changed else new if pick == "new" else b""
            out[begin:end] = source[begin:end].ljust(end - begin, b"\0")
        return bytes(out)


@dataclass
class Folder:
    names: dict[str, File | Folder] = field(default_factory=dict)
    synced: dict[str, File | Folder] = field(default_factory=dict)
    """What the last fsync saw."""
    since: list[tuple[int, str, File | Folder | None]] = field(default_factory=list)
    """Changes after it: their numbers, names, and what the names lead to; none where they went."""


class Disk:
    """The files below a root, as they are and as a disk may have them."""

    def __init__(self, root: Path) -> None:
        self.root = str(root)
        self.top = Folder()
        self.changes = 0
        self.taken = 0
        """How many changes of names the last fsync of anything took along, in ordered mode."""
        self.acknowledged: list[str] = []

    def find(self, path: str) -> File | Folder | None:
        node: File | Folder | None = self.top
        for name in Path(path).relative_to(self.root).parts:
            node = node.names.get(name) if isinstance(node, Folder) else None
        return node

    def folder(self, path: str) -> tuple[Folder, str]:
        found = self.find(str(Path(path).parent))
        if not isinstance(found, Folder):
            raise ValueError(f"{path}: its directory was made by no call in the trace")
        return found, Path(path).name

    def name(self, path: str, node: File | Folder | None, number: int | None = None) -> None:
        """A name comes to lead elsewhere; the halves of a rename have one number."""
        folder, name = self.folder(path)
        if number is None:
            self.changes += 1
            number = self.changes
        if node is None:
            folder.names.pop(name, None)
        else:
            folder.names[name] = node
        folder.since.append((number, name, node))

    def file(self, path: str) -> File | None:
        found = self.find(path)
        return found if isinstance(found, File) else None

    def apply(self, step: Step) -> None:
        match step.kind:
            case "acknowledge":
                self.acknowledged.append(step.data.decode())
            case "make" if self.find(step.path) is None:
                self.name(step.path, File())
            case "folder":
                self.name(step.path, Folder())
            case "write":
                self.write(step)
            case "size":
                file = self.file(step.path)
                if file is not None and len(file.data) != step.offset:
                    del file.data[step.offset :]
                    file.data.extend(bytes(step.offset - len(file.data)))
                    file.dirty = True
            case "rename":
                node = self.find(step.path)
                if node is not None and step.path != step.other:
                    self.changes += 1
                    self.name(step.other, node, self.changes)
                    self.name(step.path, None, self.changes)
            case "link":
                self.name(step.other, self.find(step.path))
            case "unlink" | "rmdir":
                self.name(step.path, None)
            case "sync":
                self.sync(self.find(step.path))
            case "syncall":
                self.sync_below(self.top)

    def write(self, step: Step) -> None:
        file = self.file(step.path)
        if file is None:
            return
        begin = len(file.data) if step.offset < 0 else step.offset
        if begin > len(file.data):
            file.data.extend(bytes(begin - len(file.data)))
        file.data[begin : begin + len(step.data)] = step.data
        file.dirty = True

    def sync(self, node: File | Folder | None) -> None:
        self.taken = self.changes
        if isinstance(node, File):
            node.synced, node.dirty = bytes(node.data), False
        elif node is not None:
            node.synced, node.since = dict(node.names), []

    def sync_below(self, folder: Folder) -> None:
        self.sync(folder)
        for node in folder.names.values():
            self.sync_below(node) if isinstance(node, Folder) else self.sync(node)

    def image(self, to: Path, mode: str, chance: random.Random) -> None:
        """Writes one image that a loss of power may leave now."""
        if mode == "ordered":
            last = chance.choice((self.taken, self.changes, chance.randint(self.taken, self.changes)))
            kept = lambda number: number <= last  # noqa: E731
        else:
            share = chance.choice((0.0, 0.5, 1.0, chance.random()))
            kept_numbers: dict[int, bool] = {}
            kept = lambda number: kept_numbers.setdefault(number, chance.random() < share)  # noqa: E731
        self.put(self.top, to, kept, chance)

    def put(self, folder: Folder, to: Path, kept, chance: random.Random) -> None:
        to.mkdir()
        names = dict(folder.synced)
        for number, name, node in folder.since:
            if kept(number):
                if node is None:
                    names.pop(name, None)
                else:
                    names[name] = node
        for name, node in names.items():
            if isinstance(node, Folder):
                self.put(node, to / name, kept, chance)
            else:
                (to / name).write_bytes(node.image(chance))
