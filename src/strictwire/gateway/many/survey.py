"""Starts every upstream once to see what it offers, and whether two of them would show the same name."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.client.errors import ClientError, TimedOut
from strictwire.client.message import Era
from strictwire.gateway.links.errors import EraNotSpoken
from strictwire.gateway.links.health import reason_of
from strictwire.gateway.links.link import Link, NullListener
from strictwire.gateway.links.listing import fetch_list
from strictwire.gateway.links.raw_message import value_at
from strictwire.gateway.links.upstream import OPENING_SECONDS
from strictwire.gateway.many.naming import Intrusion, NameClash, Naming, ShownNames, find_clashes
from strictwire.gateway.many.upstream_view import NamedUpstream
from strictwire.gateway.policy.references import Offered
from strictwire.wire.envelope import render_notification
from strictwire.wire.names import META_SERVER

KINDS: Final = {"tools/list": "tool", "prompts/list": "prompt"}
INITIALIZED: Final = render_notification("notifications/initialized", {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Surveyed:
    """What one upstream offers; or in `problem`, why it offers nothing."""

    upstream: str
    naming: Naming = field(default_factory=Naming)
    era: Era | None = None
    server: str = ""
    """The name that the server gives itself."""
    shown: dict[str, tuple[str, ...]]
    """List method to the names that clients would see."""
    quarantined: tuple[str, ...] = ()
    """Tools that differ from their pins."""
    offered: Offered | None = None
    """What the policy may refer to; None if the upstream could not be listed."""
    problem: str | None = None


async def survey(upstreams: Sequence[NamedUpstream]) -> list[Surveyed]:
    """Look at every upstream at once, each for no longer than a start may take."""
    return list(await asyncio.gather(*(_survey(each) for each in upstreams)))


def clashes_of(surveyed: Sequence[Surveyed]) -> list[NameClash | Intrusion]:
    """The names that two upstreams would show, or that one would show in the namespace of another."""
    return [clash for method, kind in KINDS.items() for clash in find_clashes(kind, _shown(surveyed, method))]


def _shown(surveyed: Sequence[Surveyed], method: str) -> list[ShownNames]:
    return [
        ShownNames(upstream=each.upstream, naming=each.naming.for_method(method), names=each.shown.get(method, ()))
        for each in surveyed
    ]


async def _survey(named: NamedUpstream) -> Surveyed:
    try:
        async with asyncio.timeout(OPENING_SECONDS):
            return await _look_at(named)
    except (TimeoutError, ClientError) as exc:
        reason = reason_of(exc if isinstance(exc, ClientError) else TimedOut("the survey", OPENING_SECONDS))
        named.health.note_down(reason)
        return Surveyed(upstream=named.name, naming=named.naming, shown={}, problem=reason)


async def _look_at(named: NamedUpstream) -> Surveyed:
    """Raises ClientError."""
    upstream = named.calls.upstream
    try:
        link = await upstream.shared_link()
    except EraNotSpoken:
        link = await upstream.session_link(NullListener())
        try:
            opened = (await link.request(upstream.make_initialize(), NullListener())).result or {}
            await link.send(INITIALIZED)
            named.health.note_up()
            return await _read(named, link, Era.LEGACY, opened, value_at(opened, "serverInfo", "name"))
        finally:
            await link.close()
    opened = upstream.discovery
    return await _read(named, link, Era.MODERN, opened, value_at(opened, "_meta", META_SERVER, "name"))


async def _read(named: NamedUpstream, link: Link, era: Era, opened: JsonObject, server: object) -> Surveyed:
    calls, offered = named.calls, opened.get("capabilities")
    shown: dict[str, tuple[str, ...]] = {}
    listed: dict[str, dict[str, JsonObject]] = {method: {} for method in KINDS}
    quarantined: tuple[str, ...] = ()
    for method, kind in KINDS.items():
        if not isinstance(offered, dict) or f"{kind}s" not in offered:
            continue
        entries = listed[method] = await fetch_list(calls.upstream, link, method, era)
        names = tuple(entries)
        if kind == "tool":
            quarantined = tuple(name for name, entry in entries.items() if calls.is_quarantined(entry))
            names = tuple(name for name in entries if name not in quarantined and not calls.policy.leaves_out(name))
        shown[method] = tuple(named.naming.for_method(method).to_client(name) for name in names)
    return Surveyed(
        upstream=named.name,
        naming=named.naming,
        era=era,
        server=server if isinstance(server, str) else "",
        shown=shown,
        quarantined=quarantined,
        offered=Offered(
            tools=named.naming.names_of("tools/list", listed["tools/list"]),
            own_tools=frozenset(listed["tools/list"]),
            prompts=named.naming.names_of("prompts/list", listed["prompts/list"]),
            has_resources=isinstance(offered, dict) and "resources" in offered,
        ),
    )
