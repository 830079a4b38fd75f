"""Parts of `tessarray bench` that measure and serve: meters, the file server, appends at an offered rate."""

from __future__ import annotations

import http.client
import json
import math
import os
import sys
import time
from fractions import Fraction

import numpy as np
import pytest
from bench_liars import Honest
from support import MIB

from tessarray_bench.harness.server import COUNTS, Server
from tessarray_bench.model import Codec, Data, Job, Layout, Workload
from tessarray_bench.worker import append, verify
from tessarray_bench.worker.meter import Meter, http_counters, latency, quantile, touch

pytestmark = pytest.mark.serial  # it measures processors and memory

linux = pytest.mark.skipif(sys.platform != "linux", reason="meters read /proc")

# ---- meters


# The quarter is over 32 MiB: below that an allocation may get memory that earlier tests gave back to the allocator.
@linux
@pytest.mark.parametrize("size", [160 * MIB, 256 * MIB])
def test_the_peak_of_an_allocation_is_its_size(size):
    with Meter().step("one") as row:
        kept = np.ones(size, "u1")
        np.ones(size // 4, "u1")  # given back at once
    assert row["peak"] == pytest.approx(1.25 * size, rel=0.1)
    assert row["retained"] == pytest.approx(size, rel=0.1)
    with Meter().step("none") as row:
        kept.sum()
    assert row["peak"] < size / 10
    assert row["retained"] < size / 10


@linux
def test_the_peak_of_many_calls_is_that_of_the_largest_call():
    calls = Meter().calls("many")
    for size in (8, 48, 16):
        with calls:
            np.ones(size * MIB, "u1")
    assert calls.row()["peak"] == pytest.approx(48 * MIB, rel=0.1)


@linux
def test_bytes_read_and_written_are_counted_without_the_meters_own(tmp_path):
    meter = Meter()
    with meter.step("write") as row:
        fd = os.open(tmp_path / "f", os.O_WRONLY | os.O_CREAT)
        for _ in range(3):
            os.write(fd, bytes(100_000))
        os.close(fd)
    assert (row["written"], row["write_calls"]) == (300_000, 3)
    assert row["read"] < 100
    calls = meter.calls("read")
    fd = os.open(tmp_path / "f", os.O_RDONLY)
    for _ in range(3):
        with calls:
            assert len(os.read(fd, 100_000)) == 100_000
    os.close(fd)
    row = calls.row()
    assert row["read"] == pytest.approx(
        300_000, abs=100
    )  # the meter's own reading grows by a digit now and then
    assert row["read_calls"] == 3
    assert row["written"] == 0


@linux
def test_processor_time_is_of_work_and_not_of_sleep():
    with Meter().step("spin") as row:
        until = time.process_time() + 0.2
        while time.process_time() < until:
            pass
    assert row["cpu_user"] + row["cpu_system"] == pytest.approx(0.2, abs=0.05)
    assert row["wall"] >= 0.19
    with Meter().step("sleep") as row:
        time.sleep(0.1)
    assert row["cpu_user"] + row["cpu_system"] < 0.05
    assert row["wall"] >= 0.1


def test_quantiles_are_of_the_calls_that_were():
    ordered = [float(n) for n in range(1, 1001)]
    assert latency(ordered[::-1]) == {
        "p50": 500.0,
        "p99": 990.0,
        "p999": 999.0,
        "max": 1000.0,
        "first": 1000.0,
    }
    assert latency([3.0, 1.0]) == {"p50": 1.0, "p99": 3.0, "p999": 3.0, "max": 3.0, "first": 3.0}


@pytest.mark.parametrize("share", ["0.5", "0.99", "0.999"])
def test_quantiles_are_exact_at_every_number_of_calls(share):
    for count in (*range(1, 1200), 10_000, 123_000):
        wanted = math.ceil(Fraction(share) * count)
        assert quantile(list(range(1, count + 1)), float(share)) == wanted, count


def test_a_row_sums_its_calls_and_what_the_block_says_wins():
    meter = Meter()
    calls = meter.calls("many")
    for _ in range(4):
        with calls:
            time.sleep(0.01)
    row = calls.row(80, verified=True)
    assert (row["step"], row["status"], row["calls"], row["nbytes"], row["verified"]) == (
        "many",
        "ok",
        4,
        80,
        True,
    )
    assert row["wall"] == sum(calls.walls) >= 0.04
    with meter.step("one", 5) as row:
        row["reader"] = "me"
    assert (row["reader"], row["nbytes"], "latency" in row) == ("me", 5, False)


def test_memory_is_touched_and_given_back():
    with Meter().step("touch") as row:
        touch(100 * MIB)
    if sys.platform == "linux":
        assert row["peak"] >= 100 * MIB
        assert row["retained"] < 10 * MIB


# ---- the file server


@pytest.fixture
def folder(tmp_path):
    inside = tmp_path / "inside"
    (inside / "in").mkdir(parents=True)
    (inside / "in" / "a b").write_bytes(bytes(range(200)))
    (inside / "empty").touch()
    (tmp_path / "secret").write_bytes(b"secret")
    (inside / "link").symlink_to(tmp_path / "secret")
    return inside


@pytest.fixture
def server(folder):
    with Server(folder, 0) as running:
        yield running


@pytest.fixture
def ask(server):
    client = http.client.HTTPConnection(*server.url.removeprefix("http://").split(":"), timeout=10)

    def ask(path, method="GET", **headers):
        client.request(
            method, path, headers={name.replace("_", "-"): value for name, value in headers.items()}
        )
        answer = client.getresponse()
        return answer.status, answer.read(), answer.headers

    ask.client = client
    yield ask
    client.close()


ALL = bytes(range(200))


@pytest.mark.parametrize(
    ("asked", "status", "content", "told"),
    [
        (None, 200, ALL, None),
        ("bytes=0-9", 206, ALL[:10], "bytes 0-9/200"),
        ("bytes=190-", 206, ALL[190:], "bytes 190-199/200"),
        ("bytes=190-999", 206, ALL[190:], "bytes 190-199/200"),
        ("bytes=-5", 206, ALL[-5:], "bytes 195-199/200"),
        ("bytes=-999", 206, ALL, "bytes 0-199/200"),
        ("bytes=200-", 416, b"", "bytes */200"),
        ("bytes=-0", 416, b"", "bytes */200"),
        ("bytes=0-1,5-6", 200, ALL, None),  # what it has not got, it ignores
        ("bytes=a-b", 200, ALL, None),
        ("bytes=-", 200, ALL, None),
        ("lines=0-9", 200, ALL, None),
    ],
)
def test_ranges(ask, asked, status, content, told):
    for method in ("GET", "HEAD"):
        found = ask("/in/a%20b?x=1", method, **({"Range": asked} if asked else {}))
        assert found[0] == status
        assert found[1] == (content if method == "GET" else b"")
        assert found[2]["Content-Range"] == told
        assert found[2]["Content-Length"] == str(len(content))


@pytest.mark.parametrize(
    "path",
    [
        "/none",
        "/in",
        "/",
        "/../secret",
        "/%2e%2e/secret",
        "/in/../../secret",
        "/link",
        "/%00",
        "/" + "x" * 400,
    ],
)
def test_nothing_but_files_of_the_folder_is_served(ask, path):
    for method in ("GET", "HEAD"):
        assert ask(path, method)[:2] == (404, b"")
    assert ask("/empty")[:2] == (200, b"")


def test_connections_are_kept_and_requests_counted(ask, server):
    ask("/in/a%20b")
    socket = ask.client.sock
    assert socket is not None
    ask("/in/a%20b", Range="bytes=0-9")
    ask("/in/a%20b", "HEAD")
    ask("/none")
    ask("/in/a%20b", Range="bytes=900-")
    assert ask.client.sock is socket
    for _ in range(2):  # it does not count itself
        assert json.loads(ask(COUNTS)[1]) == {"requests": 5, "transferred": 210}
    assert http_counters(f"{server.url}/in/a%20b") == {"requests": 5, "transferred": 210}


def test_a_meter_counts_the_requests_of_its_step(ask, server):
    meter = Meter(f"{server.url}/store")
    ask("/in/a%20b")
    calls = meter.calls("reads")
    for _ in range(3):
        with calls:
            ask("/in/a%20b", Range="bytes=0-49")
    ask("/in/a%20b")
    row = calls.row()
    assert (row["requests"], row["transferred"]) == (3, 150)


def test_every_answer_waits_but_that_of_the_counts(folder):
    with Server(folder, 0.3) as server:
        client = http.client.HTTPConnection(*server.url.removeprefix("http://").split(":"), timeout=10)
        took = []
        for method, path in (("GET", "/empty"), ("HEAD", "/empty"), ("GET", "/none"), ("GET", COUNTS)):
            started = time.perf_counter()
            client.request(method, path)
            client.getresponse().read()
            took.append(time.perf_counter() - started)
        client.close()
    assert min(took[:3]) >= 0.3
    assert took[3] < 0.3


# ---- appends at an offered rate

FRAMES = Data("random", (40, 3, 5), "u1")


def offered(folder, system, rate, queue):
    """The rows of an append job in this process; the job, for its check."""
    values = np.random.default_rng(0).integers(0, 256, FRAMES.shape, "u1")
    np.save(folder / "v.npy", values)
    options = {"frames": 1, "rate": rate, "queue": queue}
    layout = Layout((8, 3, 5), None, Codec.parse("none"))
    workload = Workload("w", "s", "append", FRAMES, None, layout, options=options)
    job = Job(workload, "mine", "append", 0, str(folder / "store.npy"), source=str(folder / "v.npy"))
    return job, {row["step"]: row for row in append.run(job, system, Meter())}


class Slow(Honest):
    def append(self, handle, values):
        time.sleep(0.01)
        super().append(handle, values)


def test_frames_that_find_the_queue_full_are_dropped_and_the_others_are_what_is_checked(tmp_path):
    job, rows = offered(tmp_path, Slow(), 1000, 3)  # ten come while one is taken
    row = rows["append"]
    kept = np.load(tmp_path / "kept.npy")
    assert row["dropped"] == 40 - len(kept) > 10
    assert row["calls"] == len(kept) >= 4
    assert row["nbytes"] == len(kept) * 15
    assert row["offered"] == 1000
    assert row["delay"]["max"] >= row["delay"]["p50"] >= 0.01
    assert kept[0] == 0
    assert (np.diff(kept) > 0).all()
    values, stored = np.load(tmp_path / "v.npy"), np.load(tmp_path / "store.npy")
    np.testing.assert_array_equal(stored, values[kept])
    check = Job(**{**vars(job), "process": "check"})
    (found,) = append.run(check, Honest(), Meter())
    assert (found["step"], found["status"], found["verified"]) == ("check", "ok", True)
    assert found["nbytes"] == stored.nbytes
    np.save(tmp_path / "store.npy", values[: len(kept)])  # as many, but not those
    with pytest.raises(verify.WrongAnswer, match="stored"):
        list(append.run(check, Honest(), Meter()))


def test_a_system_that_keeps_up_drops_nothing(tmp_path):
    started = time.perf_counter()
    _, rows = offered(tmp_path, Honest(), 200, 40)
    assert rows["append"]["dropped"] == 0
    assert rows["append"]["calls"] == 40
    assert time.perf_counter() - started >= 39 / 200  # no faster than they come
    assert rows["append"]["wall"] < 39 / 200  # the waiting is not the system's
