"""Readers of files: threads of this process for a few, processes for many.

The libraries behind netCDF and HDF5 do one thing at a time in a process. A reader process is this Python with one
module run in it, told over its standard input what to read: no script of the user runs again in it, as it would with
`multiprocessing`. A file that breaks a library breaks one reader, and is reported; the build goes on.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from tessarray.collection.files import Patterns, Read, read_file
from tessarray.conversion import ConversionError

# Below so many files, processes take longer to start than they save.
MANY = 64
# A larger file is read here: its values would be held twice on their way.
LARGEST = 1 << 30
# Values of more bytes are sent beside the rest, which is not copied then.
APART = 1 << 16
# Seconds in which a reader that is ending has ended.
GRACE = 5.0
HEADER = struct.Struct("<Q")
# What a reader says first.
READY = "a reader of tessarray"


class Readers:
    """Reads files, several at a time. workers: how many; files: how many there will be."""

    def __init__(self, workers: int, files: int) -> None:
        self._threads = ThreadPoolExecutor(workers)
        self._idle: queue.SimpleQueue[_Reader] | None = None
        self._all: list[_Reader] = []
        if workers > 1 and files >= MANY:
            try:
                for _ in range(min(workers, files)):
                    self._all.append(_Reader())
            except OSError:
                # No process can be started here: threads do it.
                self._close()
                return
            self._idle = queue.SimpleQueue()
            for reader in self._all:
                self._idle.put(reader)

    def read(self, path: Path, known: dict[str, Any] | None, patterns: Patterns) -> Future[Read]:
        """What is in a file, once it is read; see `read_file`."""
        return self._threads.submit(self._read, path, known, patterns)

    def _read(self, path: Path, known: dict[str, Any] | None, patterns: Patterns) -> Read:
        if self._idle is not None and _is_small(path):
            reader = self._idle.get()
            try:
                read = reader.read(path, known, patterns)
            finally:
                self._idle.put(reader)
            if read is not None:
                return read
        # Here, where an error is raised with all that belongs to it.
        return read_file(path, known, patterns)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._threads.shutdown(wait=kind is None, cancel_futures=True)
        self._close()

    def _close(self) -> None:
        for reader in self._all:
            reader.close()
        self._all = []


def _is_small(path: Path) -> bool:
    """Whether a reader process reads it. A folder is a Zarr store, which this process reads well."""
    try:
        return path.is_file() and path.stat().st_size <= LARGEST
    except OSError:
        return False


class _Reader:
    """A process that reads one file at a time."""

    def __init__(self) -> None:
        self._closed = self._useless = False
        self._start()

    def _start(self) -> None:
        self._ready = False
        module = "from tessarray.collection.readers import serve; serve()"
        paths = "import sys; sys.path[:] = " + repr([str(one) for one in sys.path])
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"{paths}; {module}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def read(self, path: Path, known: dict[str, Any] | None, patterns: Patterns) -> Read | None:
        """What is in a file; `None` where that could not be found out, or not be sent."""
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        if not self._ready and not self._useless:
            try:
                self._ready = _receive(process.stdout) == READY
            except (EOFError, OSError, ValueError, OverflowError, MemoryError, pickle.UnpicklingError):
                # What was started is no Python with this package in it.
                self._ready = False
            self._useless = not self._ready
        if self._useless:
            return None
        try:
            _send(process.stdin, (path, known, patterns))
            found: Read | None = _receive(process.stdout)
        except (EOFError, OSError, ValueError):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(GRACE)
            code = self._end()
            if not self._closed:
                self._start()
            what = f"signal {-code}" if code < 0 else f"status {code}"
            raise ConversionError(f"{path}: its reader ended with {what}; the file may be damaged") from None
        return found

    def close(self) -> None:
        """End it, whatever it does."""
        self._closed = True
        self._process.kill()
        self._process.wait()

    def _end(self) -> int:
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        return self._process.wait()


def _send(pipe: IO[bytes], value: Any) -> None:
    apart: list[memoryview] = []

    def inside(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes < APART:
            return True
        apart.append(raw)
        return False

    parts = [memoryview(pickle.dumps(value, protocol=5, buffer_callback=inside)), *apart]
    pipe.write(HEADER.pack(len(parts)) + b"".join(HEADER.pack(part.nbytes) for part in parts))
    for part in parts:
        pipe.write(part)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    (count,) = HEADER.unpack(_exactly(pipe, HEADER.size))
    sizes = [HEADER.unpack(_exactly(pipe, HEADER.size))[0] for _ in range(count)]
    parts = [_exactly(pipe, size) for size in sizes]
    return pickle.loads(parts[0], buffers=parts[1:])


def _exactly(pipe: IO[bytes], size: int) -> bytearray:
    found = bytearray(size)
    rest = memoryview(found)
    while rest:
        count = pipe.readinto(rest)  # type: ignore[attr-defined]
        if not count:
            raise EOFError
        rest = rest[count:]
    return found


def serve() -> None:
    """Be a reader, until there is nothing more to read."""
    # Ctrl-C goes to all processes of a terminal: the build decides what becomes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    _send(answers, READY)
    # What a library prints must not get among the answers.
    os.dup2(2, 1)
    while True:
        try:
            path, known, patterns = _receive(sys.stdin.buffer)
        except EOFError:
            return
        try:
            read: Read | None = read_file(path, known, patterns)
        except Exception:
            # Told by the build, which reads the file again.
            read = None
        _send(answers, read)
