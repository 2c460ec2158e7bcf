"""Looks at every upstream before the guard serves: whether it starts, what it offers, and whether two clash."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.client.errors import ClientError
from strictwire.gateway.health import reason_of
from strictwire.gateway.link import Deaf, Era, Link, Question
from strictwire.gateway.naming import Clash, find_clashes
from strictwire.gateway.rewrite import value_at
from strictwire.gateway.roll import SHAPES, asking, fetch_all
from strictwire.gateway.upstream import OPENING_SECONDS, NotSpoken
from strictwire.gateway.warden import Warden
from strictwire.profiles.mcp.era import META_SERVER
from strictwire.wire.envelope import render_notification

KINDS: Final = {"tools/list": "tool", "prompts/list": "prompt"}
INITIALIZED: Final = render_notification("notifications/initialized", {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What one upstream showed; `problem` says why it shows nothing."""

    upstream: str
    era: Era | None = None
    server: str = ""
    shown: dict[str, tuple[str, ...]]
    """List method to the names that clients would see."""
    held: tuple[str, ...] = ()
    """Tools in quarantine."""
    problem: str | None = None


async def survey(wardens: Sequence[Warden]) -> list[Seen]:
    """Every upstream at once, each for no longer than a start may take."""
    return list(await asyncio.gather(*(_see(warden) for warden in wardens)))


def clashes_of(seen: Sequence[Seen]) -> list[Clash]:
    """Names that two of them show."""
    return [
        clash
        for method, kind in KINDS.items()
        for clash in find_clashes(kind, ((each.upstream, each.shown.get(method, ())) for each in seen))
    ]


async def _see(warden: Warden) -> Seen:
    name = warden.upstream.target.name
    try:
        async with asyncio.timeout(OPENING_SECONDS):
            return await _look(warden)
    except TimeoutError:
        warden.upstream.health.note_down("it does not answer")
        return Seen(upstream=name, shown={}, problem="it does not answer")
    except ClientError as exc:
        warden.upstream.health.note_down(reason_of(exc))
        return Seen(upstream=name, shown={}, problem=reason_of(exc))


async def _look(warden: Warden) -> Seen:
    """Raises ClientError."""
    try:
        link = await warden.upstream.modern()
    except NotSpoken:
        link = await warden.upstream.legacy(Deaf())
        try:
            opened = await _initialize(warden, link)
            return await _read(warden, link, Era.LEGACY, opened, value_at(opened, "serverInfo", "name"))
        finally:
            await link.close()
    opened = warden.upstream.discovery
    return await _read(warden, link, Era.MODERN, opened, value_at(opened, "_meta", META_SERVER, "name"))


async def _initialize(warden: Warden, link: Link) -> JsonObject:
    question: Question = warden.upstream.opening()
    answer = await link.ask(question, Deaf())
    await link.tell(INITIALIZED)
    warden.upstream.health.note_up()
    return answer.result or {}


async def _read(warden: Warden, link: Link, era: Era, opened: JsonObject, server: object) -> Seen:
    offered = opened.get("capabilities")
    shown: dict[str, tuple[str, ...]] = {}
    held: tuple[str, ...] = ()
    for method, kind in KINDS.items():
        if not isinstance(offered, dict) or f"{kind}s" not in offered:
            continue
        entries, _ = await fetch_all(asking(warden.upstream, link, method, era), SHAPES[method])
        names = tuple(entries)
        if kind == "tool":
            held = tuple(own for own, entry in entries.items() if warden.holds(entry))
            names = tuple(own for own in entries if own not in held and not warden.leaves_out(own))
        naming = warden.naming if kind == "tool" else warden.naming.without_renames()
        shown[method] = tuple(naming.shown(own) for own in names)
    return Seen(
        upstream=warden.upstream.target.name,
        era=era,
        server=server if isinstance(server, str) else "",
        shown=shown,
        held=held,
    )
