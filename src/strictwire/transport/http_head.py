"""What the head of an HTTP request comes to, found once for all requests of a connection that have the same."""

from __future__ import annotations

from strictwire.fault.failure import Failure
from strictwire.pipeline.call import Caller
from strictwire.profiles.endpoint import Headers
from strictwire.transport import cors
from strictwire.transport.gatekeeper import Gatekeeper


class Head:
    """A head that was judged."""

    __slots__ = ("asks", "asks_leave", "caller", "extra", "headers", "pairs", "refusal")

    def __init__(
        self, pairs: list[tuple[bytes, bytes]], headers: Headers, admitted: Caller | Failure | None, *, asks_leave: bool
    ) -> None:
        self.pairs = pairs
        self.headers = headers
        self.asks_leave = asks_leave
        """Whether it is that of an OPTIONS request, which carries no token."""
        self.caller = admitted if isinstance(admitted, Caller) else Caller()
        self.refusal = admitted if isinstance(admitted, Failure) else None
        self.extra = cors.shown_to(headers)
        """Header lines of the answer."""
        self.asks: object = None
        """The endpoint that it was found to ask for what that gives (`gatekeeper.find_content_fault`)."""


def judge_head(pairs: list[tuple[bytes, bytes]], gatekeeper: Gatekeeper, *, asks_leave: bool) -> Head:
    """Who calls, or why not."""
    headers = Headers((name.decode("latin-1"), value.decode("latin-1")) for name, value in pairs)
    admitted = gatekeeper.find_foreign(headers) if asks_leave else gatekeeper.admit(headers)
    return Head(pairs, headers, admitted, asks_leave=asks_leave)


NO_HEAD = Head([], Headers(()), None, asks_leave=False)
"""That of a request whose head was not read."""
