"""Builds a guard from its parts and runs it: one upstream, one endpoint, one transport."""

from __future__ import annotations

import asyncio
import logging
import secrets
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import strictwire
from strictwire.audit.recorder import Recorder
from strictwire.canon.json import Limits
from strictwire.client.message import Identity
from strictwire.gateway.drift import Drift
from strictwire.gateway.endpoint import GuardEndpoint
from strictwire.gateway.policy import ToolPolicy
from strictwire.gateway.terms import Terms
from strictwire.gateway.upstream import Target, Upstream
from strictwire.gateway.warden import Warden
from strictwire.pipeline.call import Caller
from strictwire.pipeline.clock import Clock
from strictwire.pipeline.record import Journal
from strictwire.profiles.seal import Sealer
from strictwire.server.compose import PATHS, gatekeeper_of, open_recorder_of
from strictwire.server.run import StartRefused, check_exposure, report_start_failure, set_up_logging
from strictwire.settings.model import Settings
from strictwire.settings.read import SettingsRefused, read_settings
from strictwire.sources.lock import read_lock
from strictwire.sources.refused import SourceRefused
from strictwire.stores.trail.fault import LogFault
from strictwire.transport.http import HttpServer, Site
from strictwire.transport.stdio import serve_stdio

log = logging.getLogger("strictwire.guard")


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarding:
    """What to guard, and how."""

    target: Target
    terms: Terms = field(default_factory=Terms)
    policy: ToolPolicy = field(default_factory=ToolPolicy)
    lock: Path | None = None
    """The lock file whose tools may be used."""
    trust_on_first_use: bool = False
    """Whether a lock file that is not there yet is written from the first list of tools."""
    http: tuple[str, int] | None = None
    """Host and port; None serves standard input and output."""
    announce: Callable[[str], None] = lambda _url: None
    """Told the URL once the guard listens."""


@asynccontextmanager
async def open_guard(
    guarding: Guarding, settings: Settings, *, recorder: Recorder | None = None
) -> AsyncIterator[GuardEndpoint]:
    """The guard's endpoint with everything behind it. Raises LogFault: no audit trail; StartRefused: no lock file."""
    clock = Clock()
    async with AsyncExitStack() as stack:
        keeper = recorder if recorder is not None else await open_recorder_of(settings.audit, clock, stack)
        policy = guarding.policy
        drift = _open_drift(guarding)
        warden = Warden(
            Upstream(guarding.target, Identity(name="strictwire-guard", version=strictwire.__version__)),
            guarding.terms,
            journal=Journal(recorder=keeper, clock=clock, policy_version=policy.version),
            policy=policy,
            clock=clock,
            sealer=Sealer(secrets.token_bytes(32), clock.now),
            drift=drift,
        )
        endpoint = GuardEndpoint(warden, limits=Limits(size=settings.server.max_request_bytes))
        stack.push_async_callback(endpoint.close)
        yield endpoint


def _open_drift(guarding: Guarding) -> Drift | None:
    """Raises StartRefused: the lock file is not there or cannot be read."""
    if guarding.lock is None:
        return None
    if guarding.trust_on_first_use and not guarding.lock.exists():
        return Drift(guarding.lock)
    try:
        return Drift(guarding.lock, tools=read_lock(guarding.lock))
    except SourceRefused as exc:
        raise StartRefused(f"{exc}; write it with `strictwire pin`, or start with --trust-on-first-use") from exc


async def guard(guarding: Guarding, settings: Settings) -> None:
    """Guard until the end of input, SIGTERM or SIGINT. Raises StartRefused."""
    if guarding.http is not None:
        check_exposure(guarding.http[0], settings)
    try:
        async with open_guard(guarding, settings) as endpoint:
            if guarding.http is None:
                await _guard_stdio(endpoint, guarding, settings)
            else:
                await _guard_http(endpoint, guarding, settings, guarding.http)
    except LogFault as exc:
        raise StartRefused(
            f"the audit trail cannot be kept ({exc}); set audit.folder to a writable folder, or audit.mode to off"
        ) from exc


async def _guard_stdio(endpoint: GuardEndpoint, guarding: Guarding, settings: Settings) -> None:
    log.info("guarding %s on stdio", guarding.target.name)
    caller = Caller(tier=settings.server.tier)
    await serve_stdio(endpoint, caller=caller, max_line=settings.server.max_request_bytes)


async def _guard_http(endpoint: GuardEndpoint, guarding: Guarding, settings: Settings, address: tuple[str, int]) -> None:
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
        raise StartRefused(f"cannot listen on {host}:{port}: {exc.strerror}; choose another with --http HOST:PORT") from exc
    shown = f"[{host}]" if ":" in host else host
    guarding.announce(f"http://{shown}:{port}{PATHS['mcp']}")
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError):  # no signal handlers on this platform's loop
            asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    await stopped.wait()
    await http.stop()


def run_guard(guarding: Guarding, *, file: Path | None) -> int:
    """Guard and return the exit code: 0 after a clean end, 1 if it could not start."""
    try:
        settings = read_settings(file=file)
        set_up_logging(settings.log.level)
        asyncio.run(guard(guarding, settings))
    except (SettingsRefused, StartRefused) as exc:
        report_start_failure("BOOTSTRAP_FAILURE", str(exc))
        return 1
    except KeyboardInterrupt:
        return 0
    return 0
