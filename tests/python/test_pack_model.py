"""Any sequence of what packs can do equals a model in memory, version by version.

Arrays are made, made over, written, appended to, cut and grown along any axis and deleted: in transactions, by path
and by appenders. In between, parts of the catalogue are merged and packs are compacted, rolled back, tagged, expired
and reopened.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from support import SCALE

import tessarray
from tessarray._native import PackStore

NAMES = ["a", "g/b", "g/c", "g/h/d"]
LAYOUTS: list[dict[str, Any]] = [
    {"chunks": (3, 2), "zarr_format": 3},
    {"chunks": (2, 2), "shards": (4, 6), "zarr_format": 3},
    {"chunks": (5, 5), "compressors": None, "zarr_format": 3},
    {"chunks": (2, 3), "zarr_format": 2},
]
State = dict[str, tuple[np.ndarray[Any, Any], dict[str, Any]]]


class Packs(RuleBasedStateMachine):
    """The model is a list of states; the one under change is on top of the latest. Versions that were expired have
    none, nor have those between the calls of one change by path.
    """

    @initialize()
    def make(self) -> None:
        self.store = tessarray.MemoryStore()
        self.pack = tessarray.create_pack(self.store)
        self.states: list[State | None] = [{}]
        self.tx: tessarray.Transaction | None = None
        self.by_path = False
        self.now: State = {}
        self.changed = False
        self.counter = 0
        self.tags: dict[str, int] = {}

    def begin(self) -> Any:
        """What is to be changed: the transaction, or the pack by path."""
        if self.tx is None and self.by_path:
            return tessarray.open_group(PackStore(self.pack._core, None), mode="a")
        if self.tx is None:
            self.tx = self.pack.transaction("model")
            self.now = self.latest()
            self.changed = False
        return self.tx

    def latest(self) -> State:
        return copy.deepcopy(self.states[-1] or {})

    def settle(self, changed: bool = True) -> None:
        """A change was made."""
        self.changed = self.changed or changed
        if self.tx is None:
            self.states += [None] * (self.pack.version - len(self.states) + 1)
            self.states[-1] = copy.deepcopy(self.now)

    @precondition(lambda self: self.tx is None)
    @rule()
    def change_by_path_or_not(self) -> None:
        self.by_path = not self.by_path

    @rule(
        name=st.sampled_from(NAMES),
        layout=st.sampled_from(LAYOUTS),
        rows=st.integers(0, 9),
        columns=st.integers(0, 9),
    )
    def create(self, name: str, layout: dict[str, Any], rows: int, columns: int) -> None:
        target = self.begin()
        target.create_array(name, shape=(rows, columns), dtype="i4", overwrite=True, **layout)
        self.now[name] = (np.zeros((rows, columns), "i4"), {})
        self.settle()

    def pick(self, data: st.DataObject) -> str | None:
        if self.tx is None and not self.by_path:
            self.begin()
        return data.draw(st.sampled_from(sorted(self.now))) if self.now else None

    @rule(
        data=st.data(),
        top=st.integers(0, 9),
        left=st.integers(0, 9),
        height=st.integers(1, 9),
        width=st.integers(1, 7),
        value=st.booleans(),
    )
    def write(self, data: st.DataObject, top: int, left: int, height: int, width: int, value: bool) -> None:
        name = self.pick(data)
        if name is None:
            return
        self.counter += 1
        # The fill value removes chunks.
        number = self.counter if value else 0
        place = (slice(top, top + height), slice(left, left + width))
        self.begin()[name][place] = number
        changed = value and self.now[name][0][place].size > 0
        self.now[name][0][place] = number
        self.settle(changed)

    @rule(data=st.data(), count=st.integers(1, 5), axis=st.integers(0, 1))
    def append(self, data: st.DataObject, count: int, axis: int) -> None:
        name = self.pick(data)
        if name is None:
            return
        self.counter += 1
        values, attributes = self.now[name]
        shape = (count, values.shape[1]) if axis == 0 else (values.shape[0], count)
        more = np.full(shape, self.counter, "i4")
        self.begin()[name].append(more, axis=axis)
        self.now[name] = (np.concatenate([values, more], axis=axis), attributes)
        self.settle()

    @precondition(lambda self: self.tx is None and bool(self.states[-1]))
    @rule(data=st.data(), count=st.integers(1, 6), flush=st.integers(1, 3), axis=st.integers(0, 1))
    def append_with_an_appender(self, data: st.DataObject, count: int, flush: int, axis: int) -> None:
        self.now = self.latest()
        name = data.draw(st.sampled_from(sorted(self.now)))
        values, attributes = self.now[name]
        with self.pack.appender(name, axis=axis, flush=flush) as writer:
            for _ in range(count):
                self.counter += 1
                shape = (1, values.shape[1]) if axis == 0 else (values.shape[0], 1)
                more = np.full(shape, self.counter, "i4")
                writer.append(more)
                values = np.concatenate([values, more], axis=axis)
        self.now[name] = (values, attributes)
        self.settle()

    @precondition(lambda self: self.tx is None)
    @rule(count=st.integers(1, 9))
    def others_commit(self, count: int) -> None:
        """Parts of the catalogue merge at every eighth commit."""
        self.now = self.latest()
        if "z" not in self.now:
            with self.pack.transaction("others") as tx:
                tx.create_array("z", shape=(1, 1), dtype="i4")
            self.now["z"] = (np.zeros((1, 1), "i4"), {})
            self.settle()
        for _ in range(count):
            self.counter += 1
            with self.pack.transaction("others") as tx:
                tx["z"].attrs["n"] = self.counter
            self.now["z"][1]["n"] = self.counter
            self.settle()

    @rule(data=st.data(), rows=st.integers(0, 12), columns=st.integers(0, 9))
    def resize(self, data: st.DataObject, rows: int, columns: int) -> None:
        name = self.pick(data)
        if name is None:
            return
        values, attributes = self.now[name]
        self.begin()[name].resize((rows, columns))
        new = np.zeros((rows, columns), "i4")
        shared = tuple(slice(0, min(a, b)) for a, b in zip(values.shape, new.shape, strict=True))
        new[shared] = values[shared]
        self.now[name] = (new, attributes)
        self.settle(values.shape != (rows, columns))

    @rule(data=st.data(), value=st.integers(0, 3))
    def annotate(self, data: st.DataObject, value: int) -> None:
        name = self.pick(data)
        if name is None:
            return
        self.counter += 1
        self.begin()[name].attrs[f"n{value}"] = self.counter
        self.now[name][1][f"n{value}"] = self.counter
        self.settle()

    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        name = self.pick(data)
        if name is None:
            return
        del self.begin()[name]
        del self.now[name]
        self.settle()

    @precondition(lambda self: self.tx is not None)
    @rule()
    def commit(self) -> None:
        assert self.tx is not None
        version = self.tx.commit()
        if version is not None:
            assert version == len(self.states)
            self.states.append(copy.deepcopy(self.now))
        else:
            assert not self.changed
        self.tx = None

    @precondition(lambda self: self.tx is not None)
    @rule()
    def abandon(self) -> None:
        assert self.tx is not None
        self.tx.abandon()
        self.tx = None
        self.now = self.latest()

    def version(self, data: st.DataObject) -> int:
        there = [number for number, state in enumerate(self.states) if state is not None]
        return data.draw(st.sampled_from(there))

    @precondition(lambda self: self.tx is None)
    @rule(data=st.data())
    def rollback(self, data: st.DataObject) -> None:
        version = self.version(data)
        self.pack.rollback(version)
        self.states.append(copy.deepcopy(self.states[version]))
        self.now = self.latest()

    @precondition(lambda self: self.tx is None)
    @rule()
    def compact(self) -> None:
        self.pack.compact()
        self.states.append(copy.deepcopy(self.states[-1]))

    @precondition(lambda self: self.tx is None)
    @rule()
    def reopen(self) -> None:
        self.pack = tessarray.open_pack(self.store)

    @precondition(lambda self: self.tx is None)
    @rule(data=st.data())
    def tag(self, data: st.DataObject) -> None:
        self.counter += 1
        version = self.version(data)
        self.pack.tag(f"t{self.counter}", version)
        self.tags[f"t{self.counter}"] = version

    @precondition(lambda self: bool(self.tags))
    @rule(data=st.data())
    def untag(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.tags)))
        assert self.pack.untag(name)
        del self.tags[name]

    @precondition(lambda self: self.tx is None)
    @rule(keep=st.integers(1, 12))
    def expire(self, keep: int) -> None:
        for number in self.pack.expire(keep, retention=0.0).versions:
            assert number < len(self.states) - keep
            assert number not in self.tags.values()
            self.states[number] = None

    @rule(data=st.data())
    def look_at_a_version(self, data: st.DataObject) -> None:
        version = self.version(data)
        at = self.pack.at(version)
        state = self.states[version]
        assert state is not None
        # An empty pack has no root group yet.
        same(at.root if len(at) else None, state)

    @invariant()
    def what_is_seen_is_the_model(self) -> None:
        if not hasattr(self, "pack"):
            return
        assert self.pack.version == len(self.states) - 1
        if self.tx is not None:
            if self.now:
                same(self.tx.root, self.now)
            return
        state = self.states[-1]
        assert state is not None
        same(self.pack.root if len(self.pack) else None, state)

    def look_at_all(self) -> None:
        for number, state in enumerate(self.states):
            if state is not None:
                at = self.pack.at(number)
                same(at.root if len(at) else None, state)

    def teardown(self) -> None:
        if hasattr(self, "pack"):
            assert self.pack.check(deep=True) == []
            self.look_at_all()


def same(root: Any, state: State) -> None:
    found = (
        {} if root is None else {name: node for name, node in root.members(None) if hasattr(node, "shape")}
    )
    assert sorted(found) == sorted(state)
    for name, (values, attributes) in state.items():
        np.testing.assert_array_equal(found[name][...], values, err_msg=name)
        assert dict(found[name].attrs) == attributes


TestPacks = Packs.TestCase
TestPacks.settings = settings(max_examples=round(40 * SCALE), stateful_step_count=40, deadline=None)
