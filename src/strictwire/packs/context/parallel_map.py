"""Applies a function to many chunks, in several processes where that is faster. The order of results is kept."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, Final, TypeVar

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")

_MIN_CHUNKS: Final = 8
"""Chunks per process. With fewer, starting a process costs more time than it saves."""

_inherited: Final[list[Any]] = []
"""In a worker process: the function and the chunks, inherited by fork. Only chunk numbers and results are sent."""


def map_in_processes(work: Callable[[Chunk], Result], chunks: Sequence[Chunk], workers: int = 0) -> Iterator[Result]:
    """Yield `work(chunk)` for each chunk. `workers` 0 means one per core. Raises what `work` raises for the first failure.

    A process with several threads is not forked: another thread might hold a lock that the child then waits for forever.
    """
    wanted = workers or min(os.cpu_count() or 1, len(chunks) // _MIN_CHUNKS)
    if wanted == 1 or not wanted or threading.active_count() > 1 or "fork" not in multiprocessing.get_all_start_methods():
        yield from map(work, chunks)
        return
    context = multiprocessing.get_context("fork")
    pool = ProcessPoolExecutor(wanted, mp_context=context, initializer=_inherit, initargs=(work, chunks))
    try:
        yield from pool.map(_run, range(len(chunks)))
    finally:
        pool.shutdown(cancel_futures=True)


def _inherit(*inherited: Any) -> None:
    _inherited[:] = inherited


def _run(number: int) -> Any:
    work, chunks = _inherited
    return work(chunks[number])
