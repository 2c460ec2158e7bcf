"""State of one connection or session: the requests in flight, and the progress that was reported. No I/O."""

from __future__ import annotations

from typing import Final, TypeVar

from strictwire.wire.envelope import RequestId

Handle = TypeVar("Handle")
"""What the owner stores for a request, such as a task to cancel or a future to resolve."""

MAX_IN_FLIGHT: Final = 8192
"""Requests of one connection or session that wait for a response, subscriptions included. `Caps.concurrency` limits
the calls of each tool as well."""


class InFlight(dict[RequestId, Handle]):
    """Requests in flight by id. In Python `1 != "1"`, so these are two ids, as JSON-RPC requires."""

    def add(self, request_id: RequestId, handle: Handle) -> bool:
        """Add a request. Returns False if a request with this id is still in flight."""
        if request_id in self:
            return False
        self[request_id] = handle
        return True

    def release(self, request_id: RequestId, handle: Handle) -> None:
        """Remove the request with this handle. Does nothing if a newer request has taken over the id."""
        if self.get(request_id) is handle:
            del self[request_id]


class Progress:
    """Ensures that the reported progress of a request only increases, as MCP requires."""

    def __init__(self) -> None:
        self._last: float | None = None

    def advances(self, progress: float) -> bool:
        """Whether to report this progress: only if it is greater than the last one."""
        if self._last is not None and progress <= self._last:
            return False
        self._last = progress
        return True
