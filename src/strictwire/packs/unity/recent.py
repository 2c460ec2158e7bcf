"""A cache with a bound on the total weight of its values."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """A cache of the values used last, within a total weight.

    Any thread may call; a value that two threads make at once is made twice.
    """

    def __init__(self, limit: int, weigh: Callable[[Value], int]) -> None:
        self._limit = limit
        self._weigh = weigh
        self._kept: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._weight = 0
        self._lock = Lock()

    def get(self, key: Key) -> Value | None:
        """The value of a key, if it is kept."""
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key][0]

    def put(self, key: Key, value: Value) -> Value:
        """Keep a value; those unused longest make room. One that is too heavy by itself is not kept."""
        weight = self._weigh(value)
        with self._lock:
            self._weight -= self._kept.pop(key, (value, 0))[1]
            self._kept[key] = (value, weight)
            self._weight += weight
            while self._weight > self._limit:
                self._weight -= self._kept.popitem(last=False)[1][1]
        return value
