"""Transactions of a durable pack: every image opens, at the last acknowledged version or a later one."""

from pathlib import Path

from _common import CHUNKS, Acknowledge, last, state, step_of


def run(root: Path, acknowledge: Acknowledge) -> None:
    import tessarray

    pack = tessarray.create_pack(root)
    acknowledge("created 0")
    for step in range(12):
        with pack.transaction(f"step {step}") as change:
            if step == 0:
                change.create_array("a", data=state(step), chunks=CHUNKS)
            else:
                change["a"][...] = state(step)
        acknowledge(f"step {step}")
        if step == 6:
            pack.compact()
        if step == 9:
            pack.expire(keep=2, retention=0)


def check(root: Path, acknowledged: list[str]) -> None:
    import tessarray

    if not acknowledged:
        return
    pack = tessarray.open_pack(root)
    found = step_of(pack["a"][...]) if "a" in pack else -1
    assert found >= last(acknowledged, "step"), f"step {last(acknowledged, 'step')} is gone: found {found}"
    assert not pack.check(deep=True)
    with pack.transaction("goes on") as change:
        change.create_array("after", data=state(found), chunks=CHUNKS)
