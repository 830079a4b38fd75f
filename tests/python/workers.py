"""What other processes do in the concurrency and crash tests: importable, so that they can be started afresh."""

from __future__ import annotations

import os
import resource
import signal
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

import tessarray
from tessarray.errors import ConflictError


def write_own_chunks(path: str, worker: int, rounds: int, barrier: Any) -> None:
    """In each round, write every second inner chunk of the one shard, all workers at the same time."""
    array = tessarray.open_array(path, mode="r+")
    for number in range(rounds):
        barrier.wait(60)
        for chunk in range(worker, 16, 2):
            array[number, chunk * 8 : chunk * 8 + 8] = 1 + number * 16 + chunk


def write_scattered(path: str, seed: int, owner: np.ndarray, worker: int, barrier: Any) -> None:
    """Write this worker's elements, in random small unaligned boxes and point sets, in random order."""
    rng = np.random.default_rng([seed, worker])
    array = tessarray.open_array(path, mode="r+")
    mine = np.argwhere(owner == worker)
    rng.shuffle(mine)
    barrier.wait(60)
    for part in np.array_split(mine, 12):
        rows, columns = part.T
        array.vindex[rows, columns] = (rows * owner.shape[1] + columns + 1).astype("int64")


def write_boxes(path: str, boxes: list[tuple[int, int, int, int]], barrier: Any) -> None:
    array = tessarray.open_array(path, mode="r+")
    width = array.shape[1]
    barrier.wait(60)
    for top, left, bottom, right in boxes:
        rows, columns = np.mgrid[top:bottom, left:right]
        array[top:bottom, left:right] = rows * width + columns + 1


def append_blocks(path: str, worker: int, count: int, rows: int, barrier: Any) -> None:
    """Append blocks, each filled with a number of its own."""
    array = tessarray.open_array(path, mode="r+")
    barrier.wait(60)
    for number in range(count):
        array.append(np.full((rows, 4), 1 + worker * count + number, "int64"), axis=0)


def overwrite_for_ever(path: str, seed: int, first: int, pipe: Connection) -> None:
    """Overwrite shards and single inner chunks, saying before each write what it will be, and after it that it was.

    The array has 4 shards of 4 inner chunks of 4096 elements; every write gives whole inner chunks one value.
    """
    rng = np.random.default_rng(seed)
    array = tessarray.open_array(path, mode="r+")
    value = first
    pipe.send(("ready",))
    while True:
        value += 1
        shard = int(rng.integers(4))
        whole = rng.random() < 0.6
        chunks = list(range(shard * 4, shard * 4 + 4)) if whole else [shard * 4 + int(rng.integers(4))]
        pipe.send(("will", value, chunks))
        start, stop = chunks[0] * 4096, (chunks[-1] + 1) * 4096
        array[start:stop] = np.full(stop - start, value, "int64")
        pipe.send(("did", value, chunks))


def append_for_ever(path: str, seed: int, pipe: Connection) -> None:
    """Append blocks of random height, each row holding its own number + 1; say how many rows stand after each."""
    rng = np.random.default_rng(seed)
    array = tessarray.open_array(path, mode="r+")
    pipe.send(("ready", array.shape[0]))
    while True:
        rows = array.shape[0]
        height = int(rng.integers(1, 90))
        block = np.repeat(np.arange(rows + 1, rows + 1 + height)[:, None], 16, axis=1)
        array.append(block, axis=0)
        pipe.send(("rows", array.shape[0]))


def stream_for_ever(path: str, seed: int, pipe: Connection) -> None:
    """Stream single rows, each holding its own number + 1, with a flush now and then; say how many rows it stored."""
    rng = np.random.default_rng(seed)
    array = tessarray.open_array(path, mode="r+")
    rows = array.shape[0]
    pipe.send(("ready", rows))
    with array.appender(max_bytes=1 << 16) as stream:
        while True:
            for _ in range(int(rng.integers(1, 150))):
                rows += 1
                stream.append(np.full(64, rows))
            stream.flush()
            pipe.send(("rows", rows))


def overwrite_with_a_full_disk(path: str, limit: int, pipe: Connection) -> None:
    """Try to overwrite everything where no file may grow past `limit` bytes; say what came of it."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    array = tessarray.open_array(path, mode="r+")
    noise = np.random.default_rng(1).integers(0, 1 << 60, array.shape)
    try:
        array[...] = noise
        pipe.send(("wrote",))
    except tessarray.errors.TessarrayError as error:
        pipe.send((type(error).__name__, str(error), getattr(error, "errno", None)))


def read_sum(path: str, pipe: Connection) -> None:
    pipe.send((os.getpid(), int(tessarray.open_array(path, mode="r")[...].sum())))


def append_rows(path: str, first: int, count: int, how: str, barrier: Any) -> None:
    """Append the numbers from `first`, one row of two each, by calls of their own or by an appender."""
    barrier.wait(60)
    array = tessarray.open_array(path, path="a", mode="r+")
    rows = np.repeat(np.arange(first, first + count, dtype="int64"), 2).reshape(count, 2)
    if how == "append":
        for row in rows:
            array.append(row[np.newaxis], axis=0)
    else:
        with array.appender(axis=0, max_bytes=128) as appender:
            for row in rows:
                appender.append(row)


def append_to_pack(path: str, first: int, count: int, how: str, barrier: Any) -> None:
    """The same to the array `a` of a pack: in transactions, by path, or by a pack's appender."""
    barrier.wait(60)
    rows = np.repeat(np.arange(first, first + count, dtype="int64"), 2).reshape(count, 1, 2)
    if how == "path":
        array = tessarray.open_array(path, path="a", mode="r+")
        for row in rows:
            array.append(row, axis=0)
        return
    pack = tessarray.open_pack(path)
    if how == "appender":
        with pack.appender("a", flush=5) as appender:
            for row in rows:
                appender.append(row)
        return
    for row in rows:
        while True:
            try:
                with pack.transaction("rows") as tx:
                    tx["a"].append(row, axis=0)
                break
            except ConflictError:
                pass
