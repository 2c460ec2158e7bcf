"""What passes between a transport and a profile. Transports move bytes and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeAlias

import msgspec

from strictwire.canon.json import JsonValue
from strictwire.pipeline.call import Caller


class Headers:
    """HTTP header fields: names without case, values trimmed, repetitions kept."""

    __slots__ = ("_fields",)

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._fields: dict[str, list[str]] = {}
        for name, value in pairs:
            self._fields.setdefault(name.lower(), []).append(value.strip(" \t"))

    def all(self, name: str) -> list[str]:
        """Every value of a field, whose name is given in lower case."""
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
    """What answers a message. No body means nothing to say: a notification, or a stream that carried the answer."""

    body: bytes | None = None
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    envelope: JsonValue = None
    """The failure inside, as it is sent, for the audit record; None for a success."""


class Outlet(Protocol):
    """The stream on which one message is answered: interim messages go out here before the reply."""

    def open(self) -> None:
        """Commit to a stream, even if there is nothing to send yet."""

    def send(self, message: bytes, *, event_id: str | None = None, retry_ms: int | None = None) -> bool:
        """Send an interim message; False if the client is gone. Ids are for transports that can resume."""

    def close(self) -> None:
        """End the stream before the reply, where the transport has a stream for each message."""


class Silent:
    """An outlet without a listener."""

    def open(self) -> None:
        """Nothing to open."""

    def send(self, message: bytes, *, event_id: str | None = None, retry_ms: int | None = None) -> bool:  # noqa: ARG002
        """The message is dropped."""
        return False

    def close(self) -> None:
        """Nothing to close."""


Deliver: TypeAlias = Callable[[Reply | None], None]
"""Takes the answer to one message, exactly once, as soon as it may leave; None if the message was cancelled."""


class Endpoint(Protocol):
    """One endpoint that speaks one profile."""

    @property
    def answers_in(self) -> tuple[str, ...]:
        """The media types of its answers; a client that names what it accepts must name them all."""

    async def serve(self, inbound: Inbound, outlet: Outlet, deliver: Deliver) -> None:
        """Answer one message through `deliver`, perhaps after this has returned: the answer waits for its record.

        Raises CancelledError if the message is abandoned, or whatever a fault of ours raises; then nothing was delivered.
        """

    def cancels_on_disconnect(self, inbound: Inbound) -> bool:
        """Whether a client that disconnects has thereby cancelled."""

    def refuse_oversized(self, inbound: Inbound) -> Reply:
        """The answer to a message that is too large for the transport to keep."""

    def refuse_fault(self, inbound: Inbound) -> Reply:
        """The answer to a message that met a fault of ours."""

    def end_input(self) -> None:
        """The input has ended: whatever waits for input must end."""

    async def close(self) -> None:
        """End everything that is still open."""
