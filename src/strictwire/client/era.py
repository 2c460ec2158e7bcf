"""Which era a server speaks: `server/discover` is tried first, the legacy handshake when that is not understood.

The ladder:
1. discover answers and lists our modern version: modern.
2. it refuses with -32022 and names no legacy version: nothing in common.
3. anything else (another error, silence, HTTP refusal, the process ends): initialize.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.client.channel import Channel, Inbound
from strictwire.client.errors import CannotReach, ClientError, NotUnderstood, ServerGone
from strictwire.client.message import (
    LEGACY_VERSION,
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

LEGACY_VERSIONS: Final = frozenset({"2024-11-05", "2025-03-26", "2025-06-18", LEGACY_VERSION})
"""Versions that open with a handshake."""

UNSUPPORTED_VERSION: Final = -32022
"""A modern server's refusal of a version; `data.supported` names what it speaks."""

OPENING_ID: Final = "strictwire-opening"
"""A text id, so that it can never be one of the session's numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """What was agreed."""

    era: Era
    version: str
    opening: Result


async def find_era_stdio(
    command: Sequence[str],
    *,
    identity: Identity,
    inbound: Inbound,
    seconds: float,
    env: Mapping[str, str] | None,
    cwd: str | None,
) -> tuple[Channel, Spoken]:
    """Start the command and agree on an era; a process that ends over the first question is started once more."""
    channel = StdioChannel(await StdioProcess.start(command, env=env, cwd=cwd), inbound)
    try:
        spoken = await maybe_modern(channel, identity, seconds)
        if spoken is not None:
            return channel, spoken
    except ServerGone:
        await channel.close()
        channel = StdioChannel(await StdioProcess.start(command, env=env, cwd=cwd), inbound)
    except BaseException:
        await channel.close()
        raise
    return channel, await legacy_or_close(channel, identity, seconds)


async def maybe_modern(channel: Channel, identity: Identity, seconds: float) -> Spoken | None:
    """Rungs 1 and 2; None sends the caller to rung 3. Raises CannotReach, ServerGone, NotUnderstood (rung 2)."""
    question = request(OPENING_ID, "server/discover", modern_params({}, identity))
    try:
        reply = read_reply(*await channel.ask(question, seconds=seconds))
    except (CannotReach, ServerGone):
        raise
    except ClientError:
        return None
    if isinstance(reply, RemoteError):
        _refuse_without_legacy(reply)
        return None
    if MODERN_VERSION in _texts(reply.value, "supportedVersions"):
        return Spoken(era=Era.MODERN, version=MODERN_VERSION, opening=reply)
    return None


def _refuse_without_legacy(error: RemoteError) -> None:
    if error.code != UNSUPPORTED_VERSION or not isinstance(error.data, dict):
        return
    supported = _texts(error.data, "supported")
    if supported and LEGACY_VERSIONS.isdisjoint(supported):
        raise NotUnderstood("no protocol version in common", error.raw)


def _ignore(_version: str) -> None:
    """Over stdio nothing repeats the version."""


async def legacy_or_close(
    channel: Channel, identity: Identity, seconds: float, agree: Callable[[str], None] = _ignore
) -> Spoken:
    """Rung 3; `agree` is told the version before anything else is sent. Raises ClientError, with the channel closed."""
    try:
        return await _legacy(channel, identity, seconds, agree)
    except BaseException:
        await channel.close()
        raise


async def _legacy(channel: Channel, identity: Identity, seconds: float, agree: Callable[[str], None]) -> Spoken:
    question = request(OPENING_ID, "initialize", initialize_params(identity))
    reply: Reply = read_reply(*await channel.ask(question, seconds=seconds))
    if isinstance(reply, RemoteError):
        raise NotUnderstood(f"neither server/discover nor initialize is answered (error {reply.code})", reply.raw)
    version = reply.value.get("protocolVersion")
    if not isinstance(version, str) or version not in LEGACY_VERSIONS:
        raise NotUnderstood("initialize names a version we do not speak", reply.raw)
    agree(version)
    await channel.tell(notification("notifications/initialized", {}))
    return Spoken(era=Era.LEGACY, version=version, opening=reply)


def _texts(holder: JsonObject, member: str) -> list[str]:
    values = holder.get(member)
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []
