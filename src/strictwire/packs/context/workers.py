"""A function over many chunks, in several processes where that helps, with results in order either way."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, Final, TypeVar

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")

_WORTH_IT: Final = 8
"""Chunks below which starting processes costs more than it saves."""

_inherited: Final[list[Any]] = []
"""In a worker: the function and the chunks of the process it was forked from. Only numbers and results are sent."""


def spread(work: Callable[[Chunk], Result], chunks: Sequence[Chunk], workers: int = 0) -> Iterator[Result]:
    """`work` of each chunk. `workers` 0 means one a core. Raises what `work` raises, for the first chunk that failed.

    A process with more than one thread is not forked: another thread might hold a lock that the child would wait for.
    """
    wanted = workers or min(os.cpu_count() or 1, len(chunks) // _WORTH_IT)
    if wanted == 1 or not wanted or threading.active_count() > 1 or "fork" not in multiprocessing.get_all_start_methods():
        yield from map(work, chunks)
        return
    context = multiprocessing.get_context("fork")
    pool = ProcessPoolExecutor(wanted, mp_context=context, initializer=_inherit, initargs=(work, chunks))
    try:
        yield from pool.map(_do, range(len(chunks)))
    finally:
        pool.shutdown(cancel_futures=True)


def _inherit(*inherited: Any) -> None:
    _inherited[:] = inherited


def _do(number: int) -> Any:
    work, chunks = _inherited
    return work(chunks[number])
