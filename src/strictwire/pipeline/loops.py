"""What there is one of for each event loop. None of it keeps a loop in memory that is done with."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Callable
from typing import TypeVar
from weakref import WeakKeyDictionary

Thing = TypeVar("Thing")


def one_of_each(make: Callable[[AbstractEventLoop], Thing]) -> Callable[[AbstractEventLoop], Thing]:
    """How to find the one of a loop, made when it is first looked for. It must hold its loop weakly, if at all."""
    made: WeakKeyDictionary[AbstractEventLoop, Thing] = WeakKeyDictionary()

    def find(loop: AbstractEventLoop) -> Thing:
        found = made.get(loop)
        if found is None:
            found = made[loop] = make(loop)
        return found

    return find
