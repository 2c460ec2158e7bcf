"""The rules of MCP over HTTP that need no backend: verbs, versions, sessions, and GET streams."""

from __future__ import annotations

import asyncio
from typing import Final, Protocol

from strictwire.fault.failure import Failure, fail
from strictwire.profiles.endpoint import Headers, Inbound, Outlet, Reply
from strictwire.profiles.mcp.streams import Streams
from strictwire.wire.names import SESSION_HEADER, VERSION_HEADER
from strictwire.wire.revisions import LEGACY_NAMES, MODERN, REVISIONS, Revision

ACCEPTED: Final = Reply(status=202)
"""Nothing to say: a notification, or an answer to us."""


class Listening(Protocol):
    """A session that a client may listen to."""

    streams: Streams
    closed: asyncio.Event

    def attach(self, outlet: Outlet) -> None:
        """Where messages go that belong to no request."""

    def detach(self, outlet: Outlet) -> None:
        """That stream is gone."""


async def hold_stream(session: Listening, headers: Headers, outlet: Outlet) -> Reply:
    """Keep a GET stream open for what the server has to say, or resume one that broke off."""
    last = headers.get("last-event-id")
    resumed = session.streams.resume(last, outlet) if last is not None else None
    if resumed is not None:
        await resumed.ended.wait()
        return ACCEPTED
    outlet.open()
    session.attach(outlet)
    try:
        await session.closed.wait()
    finally:
        session.detach(outlet)
    return ACCEPTED


def find_verb_fault(inbound: Inbound) -> Failure | None:
    """GET and DELETE exist in the legacy era alone, and a GET is answered with a stream."""
    headers = inbound.headers or Headers(())
    if inbound.verb not in ("GET", "DELETE") or names_modern(headers):
        return fail("HTTP_METHOD_DENIED")
    return None


def find_stream_fault(headers: Headers) -> Failure | None:
    """NOT_ACCEPTABLE: a GET that does not accept what it is answered with."""
    return None if "text/event-stream" in (headers.get("accept") or "") else fail("NOT_ACCEPTABLE")


def cancels_on_disconnect(inbound: Inbound) -> bool:
    """In the stateless era the end of the stream is the cancellation; in the legacy era only that of a GET is."""
    return inbound.verb == "GET" or (inbound.headers is not None and names_modern(inbound.headers))


def names_modern(headers: Headers) -> bool:
    """Whether a version is named that is none of the legacy era."""
    version = headers.get(VERSION_HEADER)
    return version is not None and version not in LEGACY_NAMES


def revision_of(inbound: Inbound) -> Revision:
    """The revision that a request without a session is answered in."""
    version = inbound.headers.get(VERSION_HEADER) if inbound.headers is not None else None
    return REVISIONS[version] if version in LEGACY_NAMES else REVISIONS[MODERN]


def sessionless(headers: Headers | None) -> Failure:
    """A request that needs a session: it names none, or one that is not there."""
    named = headers.get(SESSION_HEADER) if headers is not None else None
    return fail("SESSION_UNKNOWN" if named else "SESSION_REQUIRED")
