"""What the processes of the pack tests run."""

from __future__ import annotations

import itertools

import numpy as np

import tessarray


def everything_for_ever(path: str, seed: int, pipe) -> None:
    """Transactions, appends, compactions and expiries, each acknowledged when it is done."""
    rng = np.random.default_rng(seed)
    pack = tessarray.open_pack(path, durable=False)
    pipe.send(("ready",))
    while True:
        kind = rng.integers(0, 12)
        if kind == 0:
            pack.compact()
        elif kind == 1:
            pack.expire(keep=3, retention="1m")
        elif kind < 5:
            pipe.send(("did", pack.append("log", [pack["log"].shape[0]])))
        else:
            with pack.transaction("step") as tx:
                value = int(tx["a"][0]) + 1
                tx["a"][...] = value
                tx["g/b"][...] = value
                if value % 7 == 0:
                    tx.create_array(f"made/{value}", data=np.full(3, value))
            pipe.send(("did", tx.version))


def create_for_ever(path: str, durable: bool, pipe) -> None:
    """Packs, one after the other, each acknowledged."""
    pipe.send(("ready",))
    for number in itertools.count():
        tessarray.create_pack(f"{path}/{number}.pack", durable=durable)
        pipe.send(("did", number))


def appender_for_ever(path: str, seed: int, pipe) -> None:
    """Records through an appender of two arrays; `flush` is acknowledged."""
    pack = tessarray.open_pack(path, durable=False)
    done = pack["t"].shape[0]
    pipe.send(("ready",))
    with pack.appender(["t", "x"], flush="2ms") as writer:
        while True:
            writer.append({"t": [done], "x": [[done, -done]]})
            done += 1
            if done % 16 == 0:
                writer.flush()
                pipe.send(("did", done))


def commit_many(path: str, worker: int, count: int, barrier) -> None:
    """Each round changes an array of one's own, and one that all share."""
    pack = tessarray.open_pack(path, durable=False)
    barrier.wait()
    for i in range(count):
        with pack.transaction(f"{worker}:{i}") as tx:
            tx[f"own-{worker}"][i] = i + 1
            tx["shared"][worker * count + i] = i + 1


def append_many(path: str, worker: int, count: int, barrier) -> None:
    """Appends to one array, in transactions of their own."""
    pack = tessarray.open_pack(path, durable=False)
    barrier.wait()
    for i in range(count):
        pack.append("log", [worker * count + i])


def plain_appends(path: str, worker: int, count: int, barrier) -> None:
    """The same through a plain array handle, which knows nothing of packs."""
    barrier.wait()
    for i in range(count):
        array = tessarray.open_array(f"{path}/log", mode="r+", storage_options={"durable": False})
        array.append(np.array([worker * count + i]))


def rewrite_for_ever(path: str, worker: int, stop) -> None:
    """Versions in which every element has one value."""
    pack = tessarray.open_pack(path, durable=False)
    value = worker
    while not stop.is_set():
        value += 2
        with pack.transaction("rewrite", serialize=True) as tx:
            tx["a"][...] = value
            tx["g/b"][...] = value
