"""Builds a guard from its parts and runs it: its upstreams, one endpoint, one transport."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import strictwire
from strictwire.audit.recorder import Recorder
from strictwire.canon.json import Limits
from strictwire.client.message import Identity
from strictwire.gateway.drift import Drift
from strictwire.gateway.house import MultiUpstream, SingleUpstream
from strictwire.gateway.policy import GuardPolicy, Statutes
from strictwire.gateway.rates import Rates
from strictwire.gateway.survey import Seen, clashes_of, survey
from strictwire.gateway.upstream import Upstream
from strictwire.gateway.warden import Warden
from strictwire.pipeline.call import Caller
from strictwire.pipeline.clock import Clock
from strictwire.pipeline.perform import Pipeline
from strictwire.pipeline.record import Journal
from strictwire.pipeline.run import HandlerRunner
from strictwire.pipeline.threads import DaemonThreads
from strictwire.pipeline.write_batch import WriteBatch
from strictwire.profiles.mcp.endpoint import McpEndpoint
from strictwire.profiles.mcp.exchange import Backend
from strictwire.profiles.mcp.identity import Identity as ServerIdentity
from strictwire.profiles.mcp.request_state import Sealer
from strictwire.server.compose import PATHS, gatekeeper_of, open_recorder_of
from strictwire.server.guarded import Guarded
from strictwire.server.run import (
    StartRefused,
    cannot_listen,
    check_exposure,
    report_start_failure,
    rest_collector,
    set_up_logging,
    stop_event,
    trail_refused,
    url_of,
)
from strictwire.settings.model import Settings
from strictwire.sources.lock import read_lock
from strictwire.sources.refused import SourceRefused
from strictwire.stores.fault import LogFault
from strictwire.stores.memory.recorder import NoRecorder
from strictwire.transport.http import HttpServer
from strictwire.transport.http_connection import Site
from strictwire.transport.stdio import serve_stdio

log = logging.getLogger("strictwire.guard")


MAX_CLASHES: Final = 5
"""Clashes that are told at once; whoever sets a prefix mends them all."""

IDENTITY: Final = Identity(name="strictwire-guard", version=strictwire.__version__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarding:
    """What to guard, and how."""

    upstreams: tuple[Guarded, ...]
    statutes: Statutes = field(default_factory=Statutes)
    http: tuple[str, int] | None = None
    """Host and port; None serves standard input and output."""
    announce: Callable[[str], None] = lambda _url: None
    """Told the URL once the guard listens."""


@asynccontextmanager
async def open_guard(
    guarding: Guarding, settings: Settings, *, recorder: Recorder | None = None
) -> AsyncIterator[McpEndpoint]:
    """The guard's endpoint with everything behind it. Raises LogFault: no audit trail; StartRefused."""
    clock = Clock()
    async with AsyncExitStack() as stack:
        keeper = recorder if recorder is not None else await open_recorder_of(settings.audit, clock, stack)
        backend = await open_backend(guarding, keeper, clock)
        stack.callback(backend.journal.batch.flush)
        endpoint = McpEndpoint(backend, limits=Limits(size=settings.server.max_request_bytes))
        stack.push_async_callback(endpoint.close)
        yield endpoint


async def open_backend(guarding: Guarding, recorder: Recorder, clock: Clock) -> Backend:
    """One upstream under its own names is relayed as it is; anything else goes through a switch. Raises StartRefused."""
    wardens = wardens_of(guarding, recorder, clock)
    if len(wardens) == 1 and wardens[0].naming.is_plain:
        return SingleUpstream(wardens[0])
    seen = await survey(wardens)
    clashes = clashes_of(seen)
    if clashes:
        await asyncio.gather(*(warden.close() for warden in wardens))
        raise StartRefused("; ".join(str(clash) for clash in clashes[:MAX_CLASHES]))
    for each in seen:
        if each.problem is not None:
            log.warning("upstream %s is left out for now: %s", each.upstream, each.problem)
    return MultiUpstream(wardens, ServerIdentity(name=IDENTITY.name, version=IDENTITY.version))


def wardens_of(guarding: Guarding, recorder: Recorder, clock: Clock) -> list[Warden]:
    """What holds each upstream to its terms. Raises StartRefused: no lock file."""
    statutes = guarding.statutes
    version = statutes.version([each.chosen for each in guarding.upstreams])
    journal = Journal(recorder=recorder, batch=WriteBatch(recorder), clock=clock, policy_version=version)
    # Every handler relays and none is a plain function: the pool never starts a thread.
    pipeline = Pipeline(journal, HandlerRunner(DaemonThreads(1, name="strictwire-guard")))
    rates, sealer = Rates(statutes.limits, clock.elapsed), Sealer(secrets.token_bytes(32), clock.now)
    return [
        Warden(
            Upstream(each.target, IDENTITY),
            each.terms,
            pipeline=pipeline,
            policy=GuardPolicy(statutes, rates, upstream=each.target.name, chosen=each.chosen, version=version),
            clock=clock,
            sealer=sealer,
            drift=_open_drift(each),
            naming=each.naming,
            resources=each.resources,
        )
        for each in guarding.upstreams
    ]


def _open_drift(guarded: Guarded) -> Drift | None:
    """Raises StartRefused: the lock file is not there or cannot be read."""
    if guarded.lock is None:
        return None
    if guarded.trust_on_first_use and not guarded.lock.exists():
        return Drift(guarded.lock)
    try:
        return Drift(guarded.lock, tools=read_lock(guarded.lock))
    except SourceRefused as exc:
        raise StartRefused(f"{exc}; write it with `strictwire pin`, or start with --trust-on-first-use") from exc


async def guard(guarding: Guarding, settings: Settings) -> None:
    """Guard until the end of input, SIGTERM or SIGINT. Raises StartRefused."""
    if guarding.http is not None:
        check_exposure(guarding.http[0], settings)
    try:
        async with open_guard(guarding, settings) as endpoint:
            rest_collector()
            if guarding.http is None:
                await _guard_stdio(endpoint, guarding, settings)
            else:
                await _guard_http(endpoint, guarding, settings, guarding.http)
    except LogFault as exc:
        raise trail_refused(exc) from exc


async def _guard_stdio(endpoint: McpEndpoint, guarding: Guarding, settings: Settings) -> None:
    log.info("guarding %s on stdio", ", ".join(each.target.name for each in guarding.upstreams))
    caller = Caller(tier=settings.server.tier)
    batch = endpoint.backend.journal.batch
    await serve_stdio(endpoint, batch, caller=caller, max_line=settings.server.max_request_bytes)


async def _guard_http(endpoint: McpEndpoint, guarding: Guarding, settings: Settings, address: tuple[str, int]) -> None:
    host, port = address
    site = Site(
        endpoints={PATHS["mcp"]: endpoint},
        gatekeeper=gatekeeper_of(settings.server),
        max_body=settings.server.max_request_bytes,
        batch=endpoint.backend.journal.batch,
    )
    http = HttpServer(site)
    try:
        port = await http.start(host, port)
    except OSError as exc:
        raise StartRefused(cannot_listen(host, port, exc)) from exc
    guarding.announce(url_of(host, port))
    await stop_event().wait()
    await http.stop()


def run_guard(guarding: Guarding, settings: Settings) -> int:
    """Guard and return the exit code: 0 after a clean end, 1 if it could not start."""
    set_up_logging(settings.log.level)
    try:
        asyncio.run(guard(guarding, settings))
    except StartRefused as exc:
        report_start_failure(exc.code, str(exc))
        return 1
    except KeyboardInterrupt:
        return 0
    return 0


async def look_at(guarding: Guarding) -> list[Seen]:
    """Start every upstream once, see what it offers, and end it. Raises StartRefused."""
    wardens = wardens_of(guarding, NoRecorder(), Clock())
    try:
        return await survey(wardens)
    finally:
        await asyncio.gather(*(warden.close() for warden in wardens))
