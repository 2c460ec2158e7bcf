"""What passes between a transport and a profile. Transports move bytes and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from functools import partial
from typing import Any, Protocol, TypeAlias, runtime_checkable

import msgspec

from strictwire.pipeline.call import Caller


class Headers:
    """HTTP header fields: names without case, values trimmed, repetitions kept."""

    __slots__ = ("_fields", "agreed")

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self.agreed: object = None
        """What a profile has found them to agree with, so that it need not look again when they come again."""
        self._fields: dict[str, list[str]] = {}
        for name, value in pairs:
            self._fields.setdefault(name.lower(), []).append(value.strip(" \t"))

    def all(self, name: str) -> list[str]:
        """Every value of a field."""
        return self._fields.get(name, [])

    def get(self, name: str) -> str | None:
        """The first value, or None."""
        values = self._fields.get(name)
        return values[0] if values else None

    def names(self) -> Iterable[str]:
        """The names that are present, in lower case."""
        return self._fields.keys()


class Inbound(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One message from a transport."""

    body: bytes
    transport: str
    caller: Caller
    headers: Headers | None = None
    """None where the transport has none (stdio, memory)."""
    verb: str = "POST"
    """The HTTP method; always POST elsewhere."""


class Reply(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What answers a message. Without a body there is nothing to say: a notification, or a stream that said it all."""

    body: bytes | None = None
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


class Outlet(Protocol):
    """The stream on which one message is answered: interim messages go out here before the reply."""

    def open(self) -> None:
        """Commit to a stream, even if there is nothing to send yet."""

    def send(self, message: bytes, *, event_id: str | None = None, retry_ms: int | None = None) -> bool:
        """Send an interim message; False if nobody is listening any more. Ids are for transports that can resume."""

    def close(self) -> None:
        """End the stream before the reply, where the transport has streams of their own."""


class Silent:
    """An outlet nobody listens to."""

    def open(self) -> None:
        """Nothing to open."""

    def send(self, message: bytes, *, event_id: str | None = None, retry_ms: int | None = None) -> bool:  # noqa: ARG002
        """Nobody hears."""
        return False

    def close(self) -> None:
        """Nothing to close."""


Deliver: TypeAlias = Callable[[Reply], None]
"""Takes the answer to one message, once, as soon as it may leave."""


class Endpoint(Protocol):
    """One endpoint that speaks one profile."""

    @property
    def answers_in(self) -> tuple[str, ...]:
        """The media types of its answers; a client that names what it accepts must name them all."""

    async def serve(self, inbound: Inbound, outlet: Outlet) -> Reply:
        """Answer one message. Cancelling it abandons the message."""

    def cancels_on_disconnect(self, inbound: Inbound) -> bool:
        """Whether a client that goes away has thereby cancelled."""

    def refuse_oversized(self, inbound: Inbound) -> Reply:
        """The answer to a message that the transport would not keep."""

    def refuse_fault(self, inbound: Inbound) -> Reply:
        """The answer to a message that met a fault of ours: nobody is left waiting."""

    def end_input(self) -> None:
        """No more will come in; what waits for input must end."""

    async def close(self) -> None:
        """End what is still open, telling whoever waits."""


Rest: TypeAlias = Coroutine[Any, Any, None] | None
"""What is left to do for a message, to be awaited; None if nothing is."""


@runtime_checkable
class PromptEndpoint(Protocol):
    """An endpoint that need not wait for the record of an answer before it takes the next message."""

    def answer(self, inbound: Inbound, outlet: Outlet, deliver: Deliver) -> Rest:
        """`serve`, but the answer goes to `deliver`, perhaps after this has returned. Cancelled, it delivers nothing."""


Answer: TypeAlias = Callable[[Inbound, Outlet, Deliver], Rest]


def answering(endpoint: Endpoint) -> Answer:
    """How a transport has a message answered: the endpoint's own way, or `serve` and then `deliver`."""
    return endpoint.answer if isinstance(endpoint, PromptEndpoint) else partial(_serve_and_deliver, endpoint)


async def _serve_and_deliver(endpoint: Endpoint, inbound: Inbound, outlet: Outlet, deliver: Deliver) -> None:
    deliver(await endpoint.serve(inbound, outlet))
