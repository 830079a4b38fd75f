"""Whoever is killed leaves a pack at a version, with everything that was acknowledged; many processes lose nothing."""

from __future__ import annotations

import multiprocessing
import random
import shutil
import sys
import threading
import time

import numpy as np
import pack_workers
import pytest
from support import scaled
from test_crash import kill_soon, messages, writer

import tessarray

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kill -9 and fork servers are POSIX")

SPAWN = multiprocessing.get_context("spawn")
KILLS = scaled(50)  # each of two tests: 100 in all


def run_all(function, path, count: int, rounds: int) -> None:
    barrier = SPAWN.Barrier(count)
    jobs = [
        SPAWN.Process(target=function, args=(path, i, rounds, barrier), daemon=True) for i in range(count)
    ]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join(240)
    assert [job.exitcode for job in jobs] == [0] * count


def test_kill_9_at_any_moment_leaves_a_version_with_all_that_was_acknowledged(tmp_path):
    path = str(tmp_path / "a.pack")
    pack = tessarray.create_pack(path, durable=False)
    with pack.transaction("make") as tx:
        tx.create_array("a", data=np.zeros(64, "i8"), chunks=(8,), shards=(32,))
        tx.create_array("g/b", data=np.zeros((4, 4), "i8"), chunks=(2, 2))
        tx.create_array("log", shape=(0,), chunks=(16,), dtype="i8")
    rng = random.Random(7)
    acknowledged = pack.version
    for seed in range(KILLS):
        with writer(pack_workers.everything_for_ever, path, seed) as (process, pipe):
            assert pipe.recv() == ("ready",)
            kill_soon(process, rng, 0.06)
            for _, version in messages(pipe):
                acknowledged = max(acknowledged, version)
        opened = tessarray.open_pack(path, durable=False)
        assert opened.version >= acknowledged, f"kill {seed}: an acknowledged commit is lost"
        acknowledged = opened.version
        at = opened.at(opened.version)
        a, b, log = at["a"][...], at["g/b"][...], at["log"][...]
        assert (a == a[0]).all(), f"kill {seed}: half a transaction"
        assert (b == a[0]).all(), f"kill {seed}: half a transaction"
        assert log.tolist() == list(range(len(log))), f"kill {seed}"
        assert opened.check() == [], f"kill {seed}"
    assert opened.check(deep=True) == []
    assert opened.version > KILLS, "the writers got somewhere"


@pytest.mark.parametrize("durable", [True, False])
def test_kill_9_of_one_who_makes_packs_leaves_packs_or_places_for_them(tmp_path, durable):
    rng = random.Random(9)
    made = finished = 0
    for seed in range(max(KILLS // 2, 1)):
        place = tmp_path / str(seed)
        acknowledged = -1
        with writer(pack_workers.create_for_ever, str(place), durable) as (process, pipe):
            assert pipe.recv() == ("ready",)
            kill_soon(process, rng, 0.02)
            for _, number in messages(pipe):
                acknowledged = number
        for number in range(acknowledged + 2):
            path = place / f"{number}.pack"
            try:
                assert tessarray.create_pack(path).version == 0
                assert number > acknowledged, f"kill {seed}: an acknowledged pack is gone"
                finished += 1
            except tessarray.errors.ExistsError:
                made += 1
            pack = tessarray.open_pack(path)
            assert pack.check() == [], f"kill {seed}, pack {number}"
            with pack.transaction("goes on") as tx:
                tx.create_array("a", data=[number])
            assert pack["a"][0] == number
        shutil.rmtree(place, ignore_errors=True)
    assert made > 0 and finished > 0


def test_kill_9_of_an_appender_keeps_whole_records_in_order(tmp_path):
    path = str(tmp_path / "a.pack")
    pack = tessarray.create_pack(path, durable=False)
    with pack.transaction("make") as tx:
        tx.create_array("t", shape=(0,), chunks=(32,), dtype="i8")
        tx.create_array("x", shape=(0, 2), chunks=(16, 2), dtype="f8")
    rng = random.Random(8)
    acknowledged = 0
    for seed in range(KILLS):
        with writer(pack_workers.appender_for_ever, path, seed) as (process, pipe):
            assert pipe.recv() == ("ready",)
            kill_soon(process, rng, 0.05)
            for _, done in messages(pipe):
                acknowledged = max(acknowledged, done)
        at = tessarray.open_pack(path, durable=False)
        at = at.at(at.version)
        t, x = at["t"][...], at["x"][...]
        assert len(t) == len(x) >= acknowledged, f"kill {seed}"
        assert t.tolist() == list(range(len(t))), f"kill {seed}"
        assert (x[:, 0] == t).all() and (x[:, 1] == -t).all(), f"kill {seed}"
    assert len(t) > 0


def test_eight_processes_commit_side_by_side_and_history_is_linear(tmp_path):
    path, count, rounds = str(tmp_path / "a.pack"), 8, scaled(25)
    pack = tessarray.create_pack(path, durable=False)
    with pack.transaction("make") as tx:
        tx.create_array("shared", shape=(count * rounds,), chunks=(1,), dtype="i8", compressors=None)
        for worker in range(count):
            tx.create_array(f"own-{worker}", shape=(rounds,), chunks=(4,), dtype="i8")
    run_all(pack_workers.commit_many, path, count, rounds)
    versions = pack.versions()
    assert [one.number for one in versions] == list(range(count * rounds + 2))
    assert len({one.message for one in versions}) == count * rounds + 2, "each landed once"
    assert pack["shared"][...].tolist() == [i + 1 for _ in range(count) for i in range(rounds)]
    for worker in range(count):
        assert pack[f"own-{worker}"][...].tolist() == [i + 1 for i in range(rounds)]
    assert pack.check(deep=True) == []


@pytest.mark.parametrize("function", ["append_many", "plain_appends"])
def test_processes_that_append_to_one_array_all_land(tmp_path, function):
    path, count, rounds = str(tmp_path / "a.pack"), 4, 10
    pack = tessarray.create_pack(path, durable=False)
    with pack.transaction("make") as tx:
        tx.create_array("log", shape=(0,), chunks=(4,), dtype="i8")
    run_all(getattr(pack_workers, function), path, count, rounds)
    assert sorted(pack["log"][...].tolist()) == list(range(count * rounds))


def test_readers_of_a_version_see_that_version(tmp_path):
    path = str(tmp_path / "a.pack")
    pack = tessarray.create_pack(path, durable=False)
    with pack.transaction("make") as tx:
        tx.create_array("a", data=np.zeros((64, 64), "i8"), chunks=(16, 16), shards=(32, 64))
        tx.create_array("g/b", data=np.zeros(1000, "i8"), chunks=(100,))
    stop = SPAWN.Event()
    jobs = [
        SPAWN.Process(target=pack_workers.rewrite_for_ever, args=(path, i, stop), daemon=True)
        for i in range(2)
    ]
    for job in jobs:
        job.start()
    until, failures, seen = time.monotonic() + 4 * scaled(1), [], set()

    def read() -> None:
        opened = tessarray.open_pack(path)
        while time.monotonic() < until and not failures:
            at = opened.at(opened.version)
            a, b, again = at["a"][...], at["g/b"][...], at["a"][::7, ::5]
            if not ((a == a[0, 0]).all() and (b == a[0, 0]).all() and (again == a[0, 0]).all()):
                failures.append(at.version)
            seen.add(at.version)

    readers = [threading.Thread(target=read) for _ in range(16)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    stop.set()
    for job in jobs:
        job.join(60)
    assert not failures
    assert len(seen) > 3
