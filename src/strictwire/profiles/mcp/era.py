"""Which era of MCP a message belongs to, and so who serves it, from its header and its body together."""

from __future__ import annotations

from enum import StrEnum

from strictwire.canon.json import JsonObject
from strictwire.fault.failure import Failure, fail
from strictwire.profiles.endpoint import Headers
from strictwire.wire.names import META_VERSION, VERSION_HEADER
from strictwire.wire.revisions import LEGACY_NAMES


class Route(StrEnum):
    """What serves a message."""

    STATELESS = "stateless"
    """The stateless era: the message stands alone."""
    OPENING = "opening"
    """A legacy `initialize`, which opens a session."""
    SESSION = "session"
    """A legacy session."""
    UNBOUND = "unbound"
    """Neither: only `ping` is answered."""


def names_version(params: JsonObject | None) -> bool:
    """Whether the body names a version, as every message of the stateless era does."""
    meta = params.get("_meta") if params is not None else None
    return isinstance(meta, dict) and META_VERSION in meta


def route_of(method: str, params: JsonObject | None, headers: Headers | None, *, has_session: bool) -> Route | Failure:
    """Route one message.

    1. a version header that is no legacy version: stateless (which checks the version itself)
    2. without headers, a body that names its version: stateless
    3. `initialize`: opens a session
    4. part of a session
    5. a body that names its version without the header to match: HEADER_MISMATCH
    6. otherwise unbound
    """
    version = headers.get(VERSION_HEADER) if headers is not None else None
    if version is not None and version not in LEGACY_NAMES:
        return Route.STATELESS
    if headers is None and params is not None and "_meta" in params and names_version(params):
        return Route.STATELESS
    if method == "initialize":
        return Route.OPENING
    if has_session:
        return Route.SESSION
    if names_version(params):
        return fail("HEADER_MISMATCH", details={"header": "MCP-Protocol-Version"})
    return Route.UNBOUND
