"""The pipeline: blocks are read, written and recorded by a few threads, and never more than a budget is in flight."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

from tessarray.conversion.blocks import COPIES
from tessarray.conversion.destinations.base import Target
from tessarray.conversion.model import Region


@dataclass(frozen=True)
class Block:
    """One block of work: its number within its array, its region, and its bytes as raw values."""

    target: Target
    number: int
    region: Region
    nbytes: int

    @property
    def key(self) -> tuple[str, int]:
        """What the journal calls it."""
        return self.target.spec.path, self.number


class Budget:
    """Bytes in flight. What is larger than the whole budget passes alone, so that nothing waits for ever."""

    def __init__(self, total: int) -> None:
        self._total, self._used = total, 0
        self._changed = threading.Condition()

    def take(self, amount: int, stop: threading.Event) -> int:
        """Wait until `amount` fits; returns what is to be given back. Returns 0 at once when `stop` is set."""
        amount = min(amount, self._total)
        with self._changed:
            while self._used + amount > self._total:
                if stop.is_set():
                    return 0
                self._changed.wait(0.1)
            self._used += amount
        return amount

    def give(self, amount: int) -> None:
        """Return what `take` took."""
        with self._changed:
            self._used -= amount
            self._changed.notify_all()


def run(blocks: Iterable[Block], work: Callable[[Block], None], threads: int, memory: int) -> None:
    """Do `work` for every block, in about their order, on `threads` threads with at most `memory` bytes in flight.

    The first exception (Ctrl-C included) stops new blocks, waits for those at work, and is raised.
    """
    budget, stop = Budget(memory), threading.Event()

    def one(block: Block) -> None:
        taken = budget.take(block.nbytes * COPIES, stop)
        try:
            if not stop.is_set():
                work(block)
        finally:
            budget.give(taken)

    pool = ThreadPoolExecutor(threads, thread_name_prefix="tessarray-convert")
    try:
        _feed(pool, iter(blocks), one, threads * 2)
    except BaseException:
        stop.set()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _feed(
    pool: ThreadPoolExecutor, blocks: Iterator[Block], one: Callable[[Block], None], ahead: int
) -> None:
    """Keep `ahead` blocks submitted, so that a billion blocks need no list."""
    pending: set[Future[Any]] = set()
    for block in blocks:
        pending.add(pool.submit(one, block))
        while len(pending) >= ahead:
            pending = _settle(pending)
    while pending:
        pending = _settle(pending)


def _settle(pending: set[Future[Any]]) -> set[Future[Any]]:
    # The timeout lets the main thread see Ctrl-C on systems where a wait cannot be interrupted.
    done, rest = wait(pending, timeout=0.5, return_when=FIRST_COMPLETED)
    for future in done:
        future.result()
    return rest
