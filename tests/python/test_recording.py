"""Recording of accesses, and logs as query classes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from support import in_new_process

import tessarray
from tessarray.errors import InvalidArgumentError
from tessarray.tuner.errors import AccessError
from tessarray.tuner.log import queries_from_log, read_log

HEADER = '{"format": "tessarray-log/1"}\n'


@pytest.fixture
def cube():
    return tessarray.create_array(
        {}, name="a/t", data=np.arange(10 * 20 * 30, dtype="f4").reshape(10, 20, 30), chunks=(2, 20, 30)
    )


def lines(path):
    found = [json.loads(line) for line in Path(path).read_text().splitlines()]
    assert found[0]["format"] == "tessarray-log/1"
    return found[1:]


class TestRecording:
    def test_every_way_to_select_is_a_box_upwards(self, cube, tmp_path):
        with tessarray.record(tmp_path / "log") as log:
            cube[3]
            cube[-1, ::-2, 5:9]
            cube[:, None, 0, ...]
            cube.oindex[[5, 1], :, 3:9]
            cube.vindex[[1, 2], [3, 4], [5, 6]]
            cube[cube.shape[0] * [True], 0, 0]
            cube.blocks[1]
            cube.read(np.s_[1:2], out=np.empty((1, 20, 30), "f4"))
        assert log.lines == 8 and not log.active
        found = lines(log.path)
        assert [one["box"] for one in found] == [
            [[3, 4, 1], [0, 20, 1], [0, 30, 1]],
            [[9, 10, 1], [1, 20, 2], [5, 9, 1]],
            [[0, 10, 1], [0, 1, 1], [0, 30, 1]],
            [[1, 6, 1], [0, 20, 1], [3, 9, 1]],
            [[1, 3, 1], [3, 5, 1], [5, 7, 1]],
            [[0, 10, 1], [0, 1, 1], [0, 1, 1]],
            [[2, 4, 1], [0, 20, 1], [0, 30, 1]],
            [[1, 2, 1], [0, 20, 1], [0, 30, 1]],
        ]
        assert [one["drops"] for one in found[:4]] == [[0], [0], [1], []]
        assert found[3]["counts"] == [2, 20, 6] and found[4]["points"] == 2
        assert [one["elements"] for one in found[:5]] == [600, 40, 300, 240, 2]
        first = found[0]
        assert (first["op"], first["path"], first["shape"]) == ("read", "a/t", [10, 20, 30])
        assert (first["dtype"], first["bytes"]) == ("float32", 2400)
        assert first["store"] == cube.store.describe() and 0 <= first["seconds"] < 60

    def test_writes_appends_and_streams_are_told_apart(self, cube, tmp_path):
        with tessarray.record(tmp_path / "log") as log:
            cube[0:2, 0] = 1
            cube.vindex[[0], [1], [2]] = 5
            cube.append(np.zeros((3, 20, 30), "f4"))
            list(cube.chunk_stream())
        found = lines(log.path)
        assert [one["op"] for one in found] == ["write", "write", "append", "stream"]
        assert found[2]["box"][0] == [10, 13, 1] and found[2]["shape"][0] == 10
        assert found[3]["seconds"] is None

    @pytest.mark.parametrize("where", ["folder", "zip", "pack", "texts", "scalar"])
    def test_arrays_of_any_store_and_type(self, where, tmp_path):
        if where == "pack":
            with tessarray.create_pack(tmp_path / "p.pack").transaction("make") as tx:
                tx.root.create_array("x", data=np.arange(6))
            array = tessarray.open_array(tmp_path / "p.pack", path="x", mode="r")
        elif where == "zip":
            with tessarray.ZipStore(tmp_path / "x.zip", "w") as store:
                tessarray.create_array(store, name="x", data=np.arange(6))
            array = tessarray.open_array(tmp_path / "x.zip", path="x", mode="r")
        elif where == "scalar":
            array = tessarray.create_array({}, name="x", shape=(), dtype="i4")
        else:
            data = np.array(["a", "bc", "", "d", "e", "f"], object) if where == "texts" else np.arange(6)
            array = tessarray.create_array(
                tmp_path / "x", name="x", data=data, dtype=str if where == "texts" else None
            )
        with tessarray.record(tmp_path / "log") as log:
            array[...]
        (found,) = lines(log.path)
        assert found["path"] == "x" and found["elements"] == (1 if where == "scalar" else 6)

    def test_a_bulk_read_is_a_line_for_each_shape(self, tmp_path):
        fleet = tessarray.create_collection(tessarray.MemoryStore())
        with fleet.transaction("fill") as tx:
            for i in range(5):
                tx.add(f"d{i}", {"even": (("y",), np.zeros(4)), "ragged": (("z",), np.zeros(2 + i % 2))})
        with tessarray.record(tmp_path / "log") as log:
            fleet.read("even", selection=np.s_[1:3])
            fleet.read("ragged")
        even, *ragged = lines(log.path)
        assert (even["path"], even["arrays"], even["box"], even["elements"]) == ("*/even", 5, [[1, 3, 1]], 10)
        assert sorted((one["shape"], one["arrays"]) for one in ragged) == [([2], 3), ([3], 2)]

    def test_blocks_nest_and_a_shared_file_has_each_access_once(self, cube, tmp_path):
        outer, inner = tmp_path / "outer", tmp_path / "inner"
        with tessarray.record(outer) as one:
            cube[0]
            with tessarray.record(outer) as again, tessarray.record(inner) as other, one:
                cube[1]
            cube[2]
        cube[3]
        assert [found["box"][0][0] for found in lines(outer)] == [0, 1, 2]
        assert [found["box"][0][0] for found in lines(inner)] == [1]
        assert (one.lines, again.lines, other.lines) == (3, 1, 1)

    def test_threads_write_whole_lines(self, cube, tmp_path):
        def read():
            for i in range(200):
                cube[i % 10]

        with tessarray.record(tmp_path / "log") as log:
            threads = [threading.Thread(target=read) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert log.lines == 800 == len(lines(log.path))

    def test_a_forked_process_goes_on_and_processes_share_a_log(self, tmp_path):
        found = in_new_process(
            """
            a = tessarray.create_array({}, data=np.arange(10))
            a[0]
            children = []
            for _ in range(3):
                child = os.fork()
                if not child:
                    for i in range(100):
                        a[i % 10]
                    os._exit(0)
                children.append(child)
            for child in children:
                os.waitpid(child, 0)
            import subprocess
            other = "import tessarray; tessarray.create_array({}, data=[1])[0]"
            subprocess.run([sys.executable, "-c", other], check=True)
            answer(ok=True)
            """,
            TESSARRAY_RECORD=str(tmp_path / "log"),
        )
        assert found["ok"]
        reads = [one for one in lines(tmp_path / "log") if one["op"] == "read"]
        assert len(reads) == 302 and len({one["process"] for one in reads}) == 5

    def test_a_log_is_appended_to_and_a_torn_line_takes_no_other_with_it(self, cube, tmp_path):
        path = tmp_path / "log"
        path.write_text(HEADER + '{"op": "re')
        with tessarray.record(path):
            cube[0]
        assert path.read_text().splitlines()[1] == '{"op": "re'
        assert json.loads(path.read_text().splitlines()[2])["op"] == "read"

    def test_another_file_is_never_appended_to(self, tmp_path):
        (tmp_path / "data.csv").write_text("a,b\n1,2\n")
        with pytest.raises(InvalidArgumentError, match=r"data\.csv.*expected a new file or a log"):
            tessarray.record(tmp_path / "data.csv").start()
        assert (tmp_path / "data.csv").read_text() == "a,b\n1,2\n"
        with pytest.raises(FileNotFoundError):
            tessarray.record(tmp_path / "no" / "log").start()
        with pytest.raises(InvalidArgumentError, match="path of a file"):
            tessarray.record(3)

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
    @pytest.mark.parametrize("action", ["always", "error"])
    def test_a_full_disk_is_a_warning_once_and_no_error(self, cube, action):
        script = f"""
import resource, signal, sys, warnings
import tessarray
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
warnings.simplefilter({action!r})
a = tessarray.create_array({{}}, data=[1, 2, 3])
with tessarray.record(sys.argv[1]) as log:
    a[0]
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, resource.RLIM_INFINITY))
    for _ in range(5):
        assert a[1] == 2
print(log.lines, log.lost)
"""
        path = Path(os.environ.get("TMPDIR", "/tmp")) / f"tessarray-log-{os.getpid()}-{action}"
        try:
            done = subprocess.run(
                [sys.executable, "-c", script, str(path)],
                capture_output=True,
                text=True,
                check=True,
                timeout=60,
            )
        finally:
            path.unlink(missing_ok=True)
        kept, lost = map(int, done.stdout.split())
        assert kept + lost == 6 and lost >= 4
        assert done.stderr.count("accesses are not recorded") >= 1
        if action == "always":
            assert done.stderr.count("RuntimeWarning") == 1

    def test_a_variable_that_names_no_usable_file_stops_nothing(self, tmp_path):
        done = subprocess.run(
            [sys.executable, "-c", "import tessarray; print(tessarray.create_array({}, data=[7])[0])"],
            env={**os.environ, "TESSARRAY_RECORD": str(tmp_path / "no" / "log")},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        assert done.stdout.strip() == "7" and "nothing is recorded" in done.stderr

    def test_reads_that_fail_are_not_recorded(self, cube, tmp_path):
        with tessarray.record(tmp_path / "log") as log, pytest.raises(IndexError):
            cube[99]
        assert log.lines == 0


class TestQueries:
    def test_reads_become_classes_with_their_shares_and_boxes(self, cube, tmp_path):
        rng = np.random.default_rng(1)
        with tessarray.record(tmp_path / "log") as log:
            for _ in range(30):
                cube[rng.integers(10)]
            for _ in range(15):
                y, x = rng.integers(20), rng.integers(30)
                cube[:, y, x]
            for n in (4, 5, 4, 4, 5):
                cube[0:n, 3 : 3 + n, 0:8]
        found = queries_from_log(log.path, cube.shape, "a/t", dims=("time", None, "lon"))
        assert found.reads == 50
        assert [(one.name, round(one.weight, 6)) for one in found.classes] == [
            ("[time, :, :]", 0.6),
            ("[:, j, lon]", 0.3),
            ("[~5, ~5, :8]", 0.1),
        ]
        first, second, third = found.classes
        assert first.axes[0].drops and first.extents == (1, 20, 30) and len(first.boxes) == 30
        assert second.extents == (10, 1, 1)
        assert ((0, 4), (3, 7), (0, 8)) in third.boxes
        assert first.selection(first.boxes[0])[0] == first.boxes[0][0][0]
        assert cube[first.selection(first.boxes[0])].shape == (20, 30)

    def test_many_kinds_of_selections_become_eight(self, tmp_path):
        array = tessarray.create_array({}, shape=(1024, 1024), dtype="u1", chunks=(64, 64))
        with tessarray.record(tmp_path / "log") as log:
            for i in range(9):
                for j in range(9):
                    array[: 1 << i, : 1 << j]
            for _ in range(100):
                array[:]
        found = queries_from_log(log.path, array.shape)
        assert len(found.classes) == 8
        assert sum(one.weight for one in found.classes) == pytest.approx(1)
        assert any("joined" in note for note in found.notes)
        assert len({one.name for one in found.classes}) == 8

    def test_what_a_log_cannot_say_exactly_is_noted(self, cube, tmp_path):
        with tessarray.record(tmp_path / "log") as log:
            cube[::2]
            cube.vindex[[1, 2], [3, 4], [5, 6]]
            cube[0] = 1
        notes = " ".join(queries_from_log(log.path, cube.shape, "a/t").notes)
        assert (
            "1 of op 'write'" in notes and "1 of 2 selected by lists" in notes and "1 of 2 had steps" in notes
        )

    def test_an_array_that_has_grown_keeps_its_whole_axes(self, cube, tmp_path):
        with tessarray.record(tmp_path / "log") as log:
            cube[:, 3, 4]
        cube.append(np.zeros((5, 20, 30), "f4"))
        found = queries_from_log(log.path, cube.shape, "a/t")
        assert found.classes[0].boxes == (((0, 15), (3, 4), (4, 5)),)
        assert "another shape" in found.notes[0]

    def test_the_reads_of_a_collection_are_those_of_its_arrays(self, tmp_path):
        fleet = tessarray.create_collection(tessarray.MemoryStore())
        with fleet.transaction("fill") as tx:
            for i in range(3):
                tx.add(f"d{i}", {"t": (("z",), np.zeros(4))})
        with tessarray.record(tmp_path / "log") as log:
            fleet.read("t", selection=np.s_[:2])
        assert queries_from_log(log.path, (4,), "d1/t").classes[0].name == "[:2]"

    def test_a_copy_is_tuned_by_the_only_array_of_its_shape(self, cube, tmp_path):
        with tessarray.record(tmp_path / "log") as log:
            cube[0]
        found = queries_from_log(log.path, cube.shape, "other")
        assert "another array of this shape" in found.notes[0]

    def test_an_array_that_is_not_in_the_log_is_told_which_are(self, cube, tmp_path):
        with tessarray.record(tmp_path / "log") as log:
            cube[0]
        with pytest.raises(AccessError, match=r"no access to wind.*the log has: a/t \(10, 20, 30\)"):
            queries_from_log(log.path, (3, 4), "wind")

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("", "found nothing"),
            ("hello\n", "line 1: expected a JSON object"),
            ("[1]\n", "line 1: expected a JSON object"),
            ('{"op": "read"}\n', "line 1: expected the header"),
            ('{"format": "tessarray-log/9"}\n', "line 1: expected the header.*tessarray-log/9"),
            (HEADER + "\n", "no access in it"),
            (HEADER + '{"op": "read"}\n', "line 2: expected an access"),
            (HEADER + "nonsense\n", "line 2: expected a JSON object"),
            (
                HEADER
                + '{"op":"read","store":"s","path":"a","shape":[3],"dtype":"u1","drops":[],"elements":1,'
                '"bytes":1,"seconds":null,"box":[[5,2,1]]}\n',
                "line 2: the box",
            ),
        ],
    )
    def test_a_bad_log_is_an_error_that_names_file_and_line(self, text, expected, tmp_path):
        (tmp_path / "bad.jsonl").write_text(text)
        with pytest.raises(AccessError, match=rf"bad\.jsonl.*{expected}"):
            queries_from_log(tmp_path / "bad.jsonl", (3,), "a")

    def test_a_log_that_is_not_there_says_how_to_make_one(self, tmp_path):
        with pytest.raises(AccessError, match=r"TESSARRAY_RECORD"):
            read_log(tmp_path / "none.jsonl")

    def test_an_unfinished_last_line_is_left_out(self, cube, tmp_path):
        with tessarray.record(tmp_path / "log") as log:
            cube[0]
        log.path.write_text(log.path.read_text() + '{"op": "rea')
        assert len(read_log(log.path).accesses) == 1

    def test_writes_can_be_asked_for(self, cube, tmp_path):
        with tessarray.record(tmp_path / "log") as log, warnings.catch_warnings():
            cube[0] = 3
        assert queries_from_log(log.path, cube.shape, "a/t", op="write").classes[0].name == "[i, :, :]"
        with pytest.raises(AccessError, match="has no read of a/t"):
            queries_from_log(log.path, cube.shape, "a/t")
