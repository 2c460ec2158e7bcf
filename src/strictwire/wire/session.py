"""Conversation state without input or output: what is in flight, what we asked, what progress was told.

`Handle` is whatever the owner wants to get back: a task to cancel, a future to fill.
"""

from __future__ import annotations

from typing import Final, Protocol, TypeVar

from strictwire.wire.envelope import RequestId

Handle = TypeVar("Handle")

MAX_IN_FLIGHT: Final = 8192
"""Requests of one connection or session that wait for their answers; subscriptions count, calls have their own bound."""


class Cancellable(Protocol):
    """A request in flight."""

    def cancel(self) -> object:
        """Stop it, if it can still be stopped."""


class _Leaving:
    def cancel(self) -> None:
        """Nothing is left to stop."""


LEAVING: Final = _Leaving()
"""The handle of a request whose answer only waits for its record."""


class InFlight(dict[RequestId, Handle]):
    """Requests that are not answered yet, by id. A string and an integer are never equal, so `1` and `"1"` are two ids."""

    def add(self, request_id: RequestId, handle: Handle) -> bool:
        """Take a request in; False if one with this id is still running."""
        if request_id in self:
            return False
        self[request_id] = handle
        return True

    def release(self, request_id: RequestId, handle: Handle) -> None:
        """Take this very request out; its id may belong to a newer one by now."""
        if self.get(request_id) is handle:
            del self[request_id]


class Progress:
    """Guards the promise that progress only ever grows."""

    def __init__(self) -> None:
        self._last: float | None = None

    def advances(self, progress: float) -> bool:
        """Whether this step may be told; a step back or a repetition may not."""
        if self._last is not None and progress <= self._last:
            return False
        self._last = progress
        return True
