"""Builds and runs a guard: its upstreams, one MCP endpoint and one transport."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import strictwire
from strictwire.audit.recorder import Recorder
from strictwire.canon.json import JsonObject, Limits
from strictwire.client.message import Identity
from strictwire.gateway.backends import MultiUpstream, SingleUpstream
from strictwire.gateway.links.upstream import Upstream
from strictwire.gateway.many.naming import Naming
from strictwire.gateway.many.survey import Surveyed, clashes_of, survey
from strictwire.gateway.many.topology import Topology
from strictwire.gateway.many.upstream_view import NamedUpstream
from strictwire.gateway.pins.drift import ToolPins
from strictwire.gateway.policy.guard_policy import GuardPolicy, PolicyRules
from strictwire.gateway.policy.rates import RateLimiter
from strictwire.gateway.policy.references import References, ReferenceWatch, UpstreamTables
from strictwire.gateway.upstream_calls import UpstreamCalls
from strictwire.pipeline.call import Caller, Kind
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
from strictwire.server.logs import set_up_logging
from strictwire.server.run import (
    StartRefused,
    cannot_listen,
    check_exposure,
    run_until_stopped,
    stop_event,
    trail_refused,
    tune_garbage_collector,
    url_of,
)
from strictwire.settings.model import Settings
from strictwire.sources.lock import read_lock
from strictwire.sources.refused import SourceRefused
from strictwire.stores.fault import LogFault
from strictwire.stores.memory.recorder import NoRecorder
from strictwire.transport.http.rules import Site
from strictwire.transport.http.server import HttpServer
from strictwire.transport.stdio import serve_stdio

log = logging.getLogger("strictwire.guard")

MAX_FAULTS: Final = 5
"""Faults in one error message. Usually one prefix resolves all clashes."""

IDENTITY: Final = Identity(name="strictwire-guard", version=strictwire.__version__)
"""Name and version that the guard sends to upstreams and, with several upstreams, to clients."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarding:
    """The upstreams to guard, the policy and the transport."""

    upstreams: tuple[Guarded, ...]
    policy: PolicyRules = field(default_factory=PolicyRules)
    http: tuple[str, int] | None = None
    """Host and port; None serves stdio."""
    announce: Callable[[str], None] = lambda _url: None
    """Called with the URL when the guard listens."""


@asynccontextmanager
async def open_guard(
    guarding: Guarding, settings: Settings, *, recorder: Recorder | None = None
) -> AsyncIterator[McpEndpoint]:
    """Open the endpoint of the guard and everything behind it. Raises LogFault: no audit trail; StartRefused."""
    clock = Clock()
    async with AsyncExitStack() as stack:
        keeper = recorder if recorder is not None else await open_recorder_of(settings.audit, clock, stack)
        backend = await open_backend(guarding, keeper, clock)
        stack.callback(backend.journal.batch.flush)
        endpoint = McpEndpoint(backend, limits=Limits(size=settings.server.max_request_bytes))
        stack.push_async_callback(endpoint.close)
        yield endpoint


async def open_backend(guarding: Guarding, recorder: Recorder, clock: Clock) -> Backend:
    """The backend of the guard. A single upstream without renamed tools needs no routing. Raises StartRefused."""
    limiter = RateLimiter(guarding.policy.limits, clock.elapsed)
    references = _references_of(guarding)
    watch = ReferenceWatch(references)
    upstreams = open_upstreams(guarding, recorder, clock, limiter, watch)
    is_single = len(upstreams) == 1 and upstreams[0].naming.is_identity
    if is_single and not references:
        return SingleUpstream(upstreams[0].calls)
    surveyed = await survey(upstreams)
    try:
        _check_survey(surveyed, watch, guarding.policy)
    except StartRefused:
        await asyncio.gather(*(each.calls.close() for each in upstreams))
        raise
    if is_single:
        return SingleUpstream(upstreams[0].calls)
    topology = Topology(
        upstreams=tuple(upstreams),
        identity=ServerIdentity(name=IDENTITY.name, version=IDENTITY.version),
        elapsed=clock.elapsed,
        policy=GuardPolicy(guarding.policy, limiter, upstream=IDENTITY.name),
    )
    for each in surveyed:
        for method, names in each.shown.items():
            for name in names:
                topology.owners.claim(method, name, each.upstream)
    return MultiUpstream(topology)


def _check_survey(surveyed: Sequence[Surveyed], watch: ReferenceWatch, policy: PolicyRules) -> None:
    """Raises StartRefused: names clash, or the policy refers to nothing. In a dry run the latter is only logged."""
    for each in surveyed:
        if each.problem is not None:
            log.warning("upstream %s is not available: %s; rules about it are not checked", each.upstream, each.problem)
    clashes = [str(clash) for clash in clashes_of(surveyed)]
    dead = watch.start({each.upstream: each.offered for each in surveyed if each.offered is not None})
    if policy.dry_run:
        for each_dead in dead:
            log.warning("dry run: the policy refers to nothing: %s", each_dead)
    faults = clashes if policy.dry_run else [*clashes, *dead]
    if faults:
        raise StartRefused("; ".join(faults[:MAX_FAULTS]))


def _references_of(guarding: Guarding) -> References:
    tables = {
        each.target.name: UpstreamTables(
            tool_filter=each.tool_filter, renamed=tuple(each.naming.rename), configured=tuple(each.options.tools)
        )
        for each in guarding.upstreams
    }
    return References(policy=guarding.policy, upstreams=tables)


def open_upstreams(
    guarding: Guarding, recorder: Recorder, clock: Clock, limiter: RateLimiter, watch: ReferenceWatch
) -> list[NamedUpstream]:
    """Every upstream with its options, policy and pins. Nothing is started yet. Raises StartRefused: no lock file."""
    policy = guarding.policy
    version = policy.version([each.tool_filter for each in guarding.upstreams])
    journal = Journal(recorder=recorder, batch=WriteBatch(recorder), clock=clock, policy_version=version)
    # The handlers of a guard are coroutines that relay calls, so the pool for plain functions never starts a thread.
    pipeline = Pipeline(journal, HandlerRunner(DaemonThreads(1, name="strictwire-guard")))
    sealer = Sealer(secrets.token_bytes(32), clock.now)
    return [
        NamedUpstream(
            calls=UpstreamCalls(
                Upstream(each.target, IDENTITY, each.options),
                each.options,
                pipeline=pipeline,
                policy=_policy_of(each, policy, limiter),
                clock=clock,
                sealer=sealer,
                pins=_open_pins(each),
                on_tools=partial(_note_tools, watch, each),
            ),
            naming=each.naming,
            resources=each.resources,
        )
        for each in guarding.upstreams
    ]


def _policy_of(guarded: Guarded, rules: PolicyRules, limiter: RateLimiter) -> GuardPolicy:
    return GuardPolicy(
        rules,
        limiter,
        upstream=guarded.target.name,
        tool_filter=guarded.tool_filter,
        client_name=partial(_client_name, guarded.naming),
    )


def _client_name(naming: Naming, kind: Kind, own_name: str) -> str:
    return own_name if kind is Kind.RESOURCE else naming.for_method(f"{kind.value}s/").to_client(own_name)


def _note_tools(watch: ReferenceWatch, guarded: Guarded, entries: Mapping[str, JsonObject]) -> None:
    watch.note_tools(guarded.target.name, guarded.naming.names_of("tools/list", entries), entries)


def _open_pins(guarded: Guarded) -> ToolPins | None:
    """The pinned tools of an upstream, if it has a lock file. Raises StartRefused: the file is missing or unreadable."""
    if guarded.lock is None:
        return None
    if guarded.trust_on_first_use and not guarded.lock.exists():
        return ToolPins(guarded.lock)
    try:
        return ToolPins(guarded.lock, tools=read_lock(guarded.lock))
    except SourceRefused as exc:
        raise StartRefused(f"{exc}; write it with `strictwire pin`, or start with --trust-on-first-use") from exc


async def guard(guarding: Guarding, settings: Settings) -> None:
    """Run the guard until the end of input, SIGTERM or SIGINT. Raises StartRefused."""
    if guarding.http is not None:
        check_exposure(guarding.http[0], settings)
    try:
        async with open_guard(guarding, settings) as endpoint:
            tune_garbage_collector()
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
    """Run the guard. Returns the exit code: 0 after a clean end, 1 if it cannot start."""
    set_up_logging(settings.log)
    return run_until_stopped(guard(guarding, settings))


def dead_references(guarding: Guarding, surveyed: Sequence[Surveyed]) -> list[str]:
    """The parts of the policy that refer to nothing."""
    return _references_of(guarding).find_dead({each.upstream: each.offered for each in surveyed if each.offered is not None})


async def survey_upstreams(guarding: Guarding) -> list[Surveyed]:
    """Start every upstream, list what it offers and stop it, for `--check`. Raises StartRefused."""
    clock = Clock()
    watch = ReferenceWatch(_references_of(guarding))
    upstreams = open_upstreams(guarding, NoRecorder(), clock, RateLimiter((), clock.elapsed), watch)
    try:
        return await survey(upstreams)
    finally:
        await asyncio.gather(*(each.calls.close() for each in upstreams))
