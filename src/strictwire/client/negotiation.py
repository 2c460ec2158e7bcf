"""Negotiation of the protocol era with a server:

1. Send `server/discover`. If the result lists the modern version, the era is modern.
2. If the server refuses it with -32022 and lists no version that we speak, there is no version in common: fail. If it lists
   the modern version all the same, ask once more.
3. In any other case (another error, no response, an HTTP error, the process ends), send `initialize`: the era is legacy.

`session.open_session` takes the steps; a server that ends during step 1 gets a new connection for step 3.
"""

from __future__ import annotations

from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.client.channel import Channel, request_within
from strictwire.client.errors import CannotReach, ClientError, NotUnderstood, ServerGone
from strictwire.client.message import (
    MODERN_VERSION,
    Era,
    Identity,
    Negotiated,
    RemoteError,
    Reply,
    initialize_params,
    modern_params,
    notification,
    read_reply,
    request,
)
from strictwire.wire.revisions import LEGACY_NAMES

UNSUPPORTED_VERSION: Final = -32022
"""Error code of a modern server that does not support the requested version. `data.supported` lists its versions."""

OPENING_ID: Final = "strictwire-opening"
"""Request id of the negotiation. A string, so that it differs from all ids of the session, which are integers."""


class NoVersionInCommon(NotUnderstood):
    """The server supports none of our versions."""


async def try_modern(channel: Channel, identity: Identity, seconds: float) -> Negotiated | None:
    """Steps 1 and 2. None means: continue with step 3. Raises CannotReach, ServerGone, NoVersionInCommon."""
    channel.use_era(Era.MODERN, None)
    try:
        reply = await _discover(channel, identity, seconds, OPENING_ID)
        if isinstance(reply, RemoteError) and MODERN_VERSION in _versions_after(reply):
            reply = await _discover(channel, identity, seconds, f"{OPENING_ID}-2")
    except (CannotReach, ServerGone, NoVersionInCommon):
        raise
    except ClientError:
        return None
    if not isinstance(reply, RemoteError) and MODERN_VERSION in _strings(reply.value, "supportedVersions"):
        return Negotiated(era=Era.MODERN, version=MODERN_VERSION, opening=reply)
    return None


async def _discover(channel: Channel, identity: Identity, seconds: float, request_id: str) -> Reply:
    message = request(request_id, "server/discover", modern_params({}, identity))
    return read_reply(*await request_within(channel, message, seconds))


def _versions_after(error: RemoteError) -> list[str]:
    """The versions that a server names when it refuses ours; empty if it does not. Raises NoVersionInCommon."""
    if error.code != UNSUPPORTED_VERSION or not isinstance(error.data, dict):
        return []
    supported = _strings(error.data, "supported")
    if supported and not set(supported) & {MODERN_VERSION, *LEGACY_NAMES}:
        named = ", ".join(supported)[:200]
        raise NoVersionInCommon(f"no protocol version in common; the server supports {named}", error.raw)
    return supported


async def open_legacy(channel: Channel, identity: Identity, *, seconds: float) -> Negotiated:
    """Step 3. Raises ClientError."""
    channel.use_era(Era.LEGACY, None)
    message = request(OPENING_ID, "initialize", initialize_params(identity))
    reply: Reply = read_reply(*await request_within(channel, message, seconds))
    if isinstance(reply, RemoteError):
        raise NotUnderstood(f"the server refuses initialize (error {reply.code})", reply.raw)
    version = reply.value.get("protocolVersion")
    if not isinstance(version, str) or version not in LEGACY_NAMES:
        raise NotUnderstood("initialize returns a protocol version that is not supported", reply.raw)
    channel.use_era(Era.LEGACY, version)
    await channel.notify(notification("notifications/initialized", {}))
    return Negotiated(era=Era.LEGACY, version=version, opening=reply)


def _strings(holder: JsonObject, member: str) -> list[str]:
    values = holder.get(member)
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []
