"""A function over many datasets."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from tessarray.collection.names import existing
from tessarray.errors import InvalidArgumentError

if TYPE_CHECKING:
    from tessarray.collection.collection import Collection
    from tessarray.collection.dataset import Dataset

# Datasets that a process or a worker is given at once, at most.
BATCH = 256


def run(
    collection: Collection,
    function: Callable[[Dataset], Any],
    names: str | Sequence[str] | None,
    executor: Any,
    workers: int | None,
    progress: bool,
) -> list[Any]:
    """See `Collection.map`."""
    pinned = collection.at(collection.version)
    asked = existing(pinned._core(), names)
    count = workers or os.cpu_count() or 1
    size = max(1, min(BATCH, len(asked) // (4 * count)))
    batches = [asked[i : i + size] for i in range(0, len(asked), size)]
    work = partial(_batch, pinned, function)
    results: list[Any] = []
    with _bar(len(asked), progress) as advance, _started(executor, count) as mapped:
        for batch, found in zip(batches, mapped(work, batches), strict=True):
            results += found
            advance(len(batch))
    return results


def _batch(collection: Collection, function: Callable[[Dataset], Any], names: Sequence[str]) -> list[Any]:
    results = []
    for name in names:
        try:
            results.append(function(collection[name]))
        except Exception as error:
            error.add_note(f"in dataset {name!r}")
            raise
    return results


@contextmanager
def _started(executor: Any, workers: int) -> Iterator[Callable[..., Iterator[Any]]]:
    """A `map` whose results come in order, of an executor that is started here or was given."""
    if executor == "threads":
        with ThreadPoolExecutor(workers) as pool:
            yield pool.map
    elif executor == "processes":
        # Threads do not survive a fork: workers begin anew.
        import multiprocessing

        with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as processes:
            yield processes.map
    elif isinstance(executor, Executor):
        yield executor.map
    elif hasattr(executor, "map") and hasattr(executor, "gather"):

        def mapped(work: Callable[..., Any], batches: list[Any]) -> Iterator[Any]:
            futures = executor.map(work, batches, pure=False)
            return (future.result() for future in futures)

        yield mapped
    else:
        raise InvalidArgumentError(
            f"executor: expected 'threads', 'processes', an Executor or a client of dask, found {executor!r}"
        )


@contextmanager
def _bar(total: int, shown: bool) -> Iterator[Callable[[int], None]]:
    if not shown:
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("datasets", total=total)
        yield lambda count: progress.advance(task, count)
