"""A pack that is loaded without durability, then worked on with and without it: a durable commit keeps all it needs."""

from pathlib import Path

from _common import CHUNKS, Acknowledge, last, newest_readable, state


def run(root: Path, acknowledge: Acknowledge) -> None:
    import tessarray

    tessarray.create_pack(root, durable=False)
    for step in range(30):
        durable = step % 10 in (3, 4, 8)
        # Each time as another process would, which knows only what is in the pack.
        pack = tessarray.open_pack(root, durable=durable)
        with pack.transaction(f"step {step}") as change:
            if step == 0:
                change.create_array("a", data=state(step), chunks=CHUNKS)
                change.create_array("deep/er/b", data=state(step), chunks=CHUNKS)
            else:
                change["a"][...] = state(step)
        if durable:
            acknowledge(f"durable {step}")
        if step in (5, 15, 24):
            pack.compact()
        if step in (6, 18):
            pack.expire(keep=1, retention=0)


def check(root: Path, acknowledged: list[str]) -> None:
    expected = last(acknowledged, "durable")
    found = newest_readable(root)
    assert found >= expected, f"step {expected} is gone: found {found}"
