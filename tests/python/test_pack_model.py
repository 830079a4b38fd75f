"""Any sequence of transactions, rollbacks, compactions and reopenings equals a model in memory, version by version."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from support import SCALE

import tessarray

NAMES = ["a", "g/b", "g/c", "g/h/d"]
LAYOUTS: list[dict[str, Any]] = [
    {"chunks": (3, 2)},
    {"chunks": (2, 2), "shards": (4, 6)},
    {"chunks": (5, 5), "compressors": None},
    {"chunks": (2, 3), "zarr_format": 2},
]
State = dict[str, tuple[np.ndarray[Any, Any], dict[str, Any]]]


class Packs(RuleBasedStateMachine):
    """The model is a list of states; the one under change is on top of the latest."""

    @initialize()
    def make(self) -> None:
        self.store = tessarray.MemoryStore()
        self.pack = tessarray.create_pack(self.store)
        self.states: list[State] = [{}]
        self.tx: tessarray.Transaction | None = None
        self.now: State = {}
        self.changed = False
        self.counter = 0

    def begin(self) -> tessarray.Transaction:
        if self.tx is None:
            self.tx = self.pack.transaction("model")
            self.now = copy.deepcopy(self.states[-1])
            self.changed = False
        return self.tx

    @rule(name=st.sampled_from(NAMES), layout=st.sampled_from(LAYOUTS), rows=st.integers(0, 9))
    def create(self, name: str, layout: dict[str, Any], rows: int) -> None:
        tx = self.begin()
        tx.create_array(name, shape=(rows, 7), dtype="i4", overwrite=True, **layout)
        self.now[name] = (np.zeros((rows, 7), "i4"), {})
        self.changed = True

    def pick(self, data: st.DataObject) -> str | None:
        self.begin()
        return data.draw(st.sampled_from(sorted(self.now))) if self.now else None

    @rule(
        data=st.data(),
        top=st.integers(0, 9),
        left=st.integers(0, 6),
        height=st.integers(1, 9),
        width=st.integers(1, 7),
    )
    def write(self, data: st.DataObject, top: int, left: int, height: int, width: int) -> None:
        name = self.pick(data)
        if name is None:
            return
        self.counter += 1
        place = (slice(top, top + height), slice(left, left + width))
        self.begin()[name][place] = self.counter
        if self.now[name][0][place].size:
            self.changed = True
        self.now[name][0][place] = self.counter

    @rule(data=st.data(), rows=st.integers(1, 5))
    def append(self, data: st.DataObject, rows: int) -> None:
        name = self.pick(data)
        if name is None:
            return
        self.counter += 1
        values, attributes = self.now[name]
        more = np.full((rows, values.shape[1]), self.counter, "i4")
        self.begin()[name].append(more)
        self.now[name] = (np.concatenate([values, more]), attributes)
        self.changed = True

    @rule(data=st.data(), rows=st.integers(0, 12), columns=st.integers(1, 9))
    def resize(self, data: st.DataObject, rows: int, columns: int) -> None:
        name = self.pick(data)
        if name is None:
            return
        values, attributes = self.now[name]
        if values.shape != (rows, columns):
            self.changed = True
        self.begin()[name].resize((rows, columns))
        new = np.zeros((rows, columns), "i4")
        shared = tuple(slice(0, min(a, b)) for a, b in zip(values.shape, new.shape, strict=True))
        new[shared] = values[shared]
        self.now[name] = (new, attributes)

    @rule(data=st.data(), value=st.integers(0, 3))
    def annotate(self, data: st.DataObject, value: int) -> None:
        name = self.pick(data)
        if name is None:
            return
        self.counter += 1
        self.begin()[name].attrs[f"n{value}"] = self.counter
        self.now[name][1][f"n{value}"] = self.counter
        self.changed = True

    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        name = self.pick(data)
        if name is None:
            return
        del self.begin()[name]
        del self.now[name]
        self.changed = True

    @precondition(lambda self: self.tx is not None)
    @rule()
    def commit(self) -> None:
        assert self.tx is not None
        version = self.tx.commit()
        if version is not None:
            assert version == len(self.states)
            self.states.append(self.now)
        else:
            assert not self.changed
        self.tx = None

    @precondition(lambda self: self.tx is not None)
    @rule()
    def abandon(self) -> None:
        assert self.tx is not None
        self.tx.abandon()
        self.tx = None

    @precondition(lambda self: self.tx is None)
    @rule(data=st.data())
    def rollback(self, data: st.DataObject) -> None:
        version = data.draw(st.integers(0, len(self.states) - 1))
        self.pack.rollback(version)
        self.states.append(copy.deepcopy(self.states[version]))

    @precondition(lambda self: self.tx is None)
    @rule()
    def compact(self) -> None:
        self.pack.compact()
        self.states.append(copy.deepcopy(self.states[-1]))

    @precondition(lambda self: self.tx is None)
    @rule()
    def reopen(self) -> None:
        self.pack = tessarray.open_pack(self.store)

    @rule(data=st.data())
    def look_at_a_version(self, data: st.DataObject) -> None:
        version = data.draw(st.integers(0, len(self.states) - 1))
        at = self.pack.at(version)
        # An empty pack has no root group yet.
        same(at.root if len(at) else None, self.states[version])

    @invariant()
    def what_is_seen_is_the_model(self) -> None:
        if not hasattr(self, "pack"):
            return
        assert self.pack.version == len(self.states) - 1
        if self.tx is not None and self.now:
            same(self.tx.root, self.now)

    def teardown(self) -> None:
        if hasattr(self, "pack"):
            assert self.pack.check(deep=True) == []


def same(root: Any, state: State) -> None:
    found = (
        {} if root is None else {name: node for name, node in root.members(None) if hasattr(node, "shape")}
    )
    assert sorted(found) == sorted(state)
    for name, (values, attributes) in state.items():
        np.testing.assert_array_equal(found[name][...], values, err_msg=name)
        assert dict(found[name].attrs) == attributes


TestPacks = Packs.TestCase
TestPacks.settings = settings(max_examples=round(60 * SCALE), stateful_step_count=30, deadline=None)
