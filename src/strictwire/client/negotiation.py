"""Negotiation of the protocol era with a server:

1. Send `server/discover`. If the result lists the modern version, the era is modern.
2. If the server refuses it with -32022 and lists no legacy version, there is no version in common: fail.
3. In any other case (another error, no response, an HTTP error, the process ends), send `initialize`: the era is legacy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.client.channel import Callbacks, Channel
from strictwire.client.errors import CannotReach, ClientError, NotUnderstood, ServerGone
from strictwire.client.message import (
    MODERN_VERSION,
    Era,
    Identity,
    RemoteError,
    Reply,
    Result,
    initialize_params,
    modern_params,
    notification,
    read_reply,
    request,
)
from strictwire.client.stdio import StdioProcess
from strictwire.client.stdio_channel import StdioChannel
from strictwire.wire.revisions import LEGACY_NAMES

UNSUPPORTED_VERSION: Final = -32022
"""Error code of a modern server that does not support the requested version. `data.supported` lists its versions."""

OPENING_ID: Final = "strictwire-opening"
"""Request id of the negotiation. A string, so that it differs from all ids of the session, which are integers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Negotiated:
    """The result of the negotiation."""

    era: Era
    version: str
    opening: Result
    """The result of `server/discover` or `initialize`."""


async def negotiate_stdio(
    command: Sequence[str],
    *,
    identity: Identity,
    callbacks: Callbacks,
    seconds: float,
    env: Mapping[str, str] | None,
    cwd: str | None,
) -> tuple[Channel, Negotiated]:
    """Start the command and negotiate. Raises ClientError; the process is stopped then.

    Some legacy servers exit when they receive an unknown method before `initialize`: such a process is started again.
    """
    channel = StdioChannel(await StdioProcess.start(command, env=env, cwd=cwd), callbacks)
    try:
        negotiated = await try_modern(channel, identity, seconds)
        if negotiated is not None:
            return channel, negotiated
    except ServerGone:
        await channel.close()
        channel = StdioChannel(await StdioProcess.start(command, env=env, cwd=cwd), callbacks)
    except BaseException:
        await channel.close()
        raise
    return channel, await open_legacy(channel, identity, seconds)


async def try_modern(channel: Channel, identity: Identity, seconds: float) -> Negotiated | None:
    """Steps 1 and 2. None means: continue with step 3. Raises CannotReach, ServerGone, NotUnderstood (step 2)."""
    message = request(OPENING_ID, "server/discover", modern_params({}, identity))
    try:
        reply = read_reply(*await channel.request(message, seconds=seconds))
    except (CannotReach, ServerGone):
        raise
    except ClientError:
        return None
    if isinstance(reply, RemoteError):
        _check_legacy_is_possible(reply)
        return None
    if MODERN_VERSION in _strings(reply.value, "supportedVersions"):
        return Negotiated(era=Era.MODERN, version=MODERN_VERSION, opening=reply)
    return None


def _check_legacy_is_possible(error: RemoteError) -> None:
    if error.code != UNSUPPORTED_VERSION or not isinstance(error.data, dict):
        return
    supported = _strings(error.data, "supported")
    if supported and not set(supported) & set(LEGACY_NAMES):
        raise NotUnderstood(f"no protocol version in common; the server supports {', '.join(supported)[:200]}", error.raw)


def _ignore(_version: str) -> None:
    """Stdio has no headers that carry the version."""


async def open_legacy(
    channel: Channel, identity: Identity, seconds: float, set_version: Callable[[str], None] = _ignore
) -> Negotiated:
    """Step 3. Calls `set_version` before it sends the next message. Raises ClientError; the channel is closed then."""
    try:
        return await _initialize(channel, identity, seconds, set_version)
    except BaseException:
        await channel.close()
        raise


async def _initialize(
    channel: Channel, identity: Identity, seconds: float, set_version: Callable[[str], None]
) -> Negotiated:
    message = request(OPENING_ID, "initialize", initialize_params(identity))
    reply: Reply = read_reply(*await channel.request(message, seconds=seconds))
    if isinstance(reply, RemoteError):
        raise NotUnderstood(f"the server refuses server/discover and initialize (error {reply.code})", reply.raw)
    version = reply.value.get("protocolVersion")
    if not isinstance(version, str) or version not in LEGACY_NAMES:
        raise NotUnderstood("initialize returns a protocol version that is not supported", reply.raw)
    set_version(version)
    await channel.notify(notification("notifications/initialized", {}))
    return Negotiated(era=Era.LEGACY, version=version, opening=reply)


def _strings(holder: JsonObject, member: str) -> list[str]:
    values = holder.get(member)
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []
