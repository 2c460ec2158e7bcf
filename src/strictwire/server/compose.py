"""The composition root: builds a server from the settings, and closes its parts in reverse order."""

from __future__ import annotations

import hashlib
import secrets
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import Executor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from strictwire.audit.recorder import Recorder
from strictwire.audit.view import TrailView
from strictwire.canon.json import JsonObject, Limits
from strictwire.packs.pack import EditorFacts
from strictwire.pipeline.call import Caller
from strictwire.pipeline.clock import Clock, deterministic_clock
from strictwire.pipeline.perform import Pipeline
from strictwire.pipeline.record import Journal
from strictwire.pipeline.run import HandlerRunner
from strictwire.pipeline.threads import DaemonThreads
from strictwire.pipeline.write_batch import WriteBatch
from strictwire.profiles.editor_v01 import EditorEndpoint, EditorInfo
from strictwire.profiles.endpoint import Endpoint
from strictwire.profiles.envelope_v1 import EnvelopeEndpoint
from strictwire.profiles.mcp.core import Core
from strictwire.profiles.mcp.endpoint import McpEndpoint
from strictwire.profiles.mcp.own import OwnBackend
from strictwire.profiles.mcp.request_state import Sealer
from strictwire.profiles.runlog import Ids, RunLog
from strictwire.server.served import Served
from strictwire.server.system_user import system_user
from strictwire.settings.model import AuditSettings, ServerSettings, Settings
from strictwire.settings.places import state_folder
from strictwire.stores.files.config import TrailConfig, refuse_missing_logs
from strictwire.stores.files.run_log import FileRunLog
from strictwire.stores.files.trail import open_trail
from strictwire.stores.files.view import FileTrailView
from strictwire.stores.memory.recorder import NoRecorder
from strictwire.stores.schedule import Clock as TrailClock
from strictwire.stores.schedule import Mode
from strictwire.transport.http.gatekeeper import LOOPBACK, Gatekeeper, Token
from strictwire.transport.http.rules import Site


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """A server with everything that it needs, ready for a transport."""

    server: Served
    settings: Settings
    core: Core
    batch: WriteBatch
    run_log: RunLog
    deterministic: bool = False
    session_prefix: str = ""
    """Start of all session ids. With several worker processes it identifies the worker."""

    @property
    def limits(self) -> Limits:
        """The limits of one message."""
        return Limits(size=self.settings.server.max_request_bytes)

    def endpoint(self, profile: str) -> Endpoint:
        """Make an endpoint of a profile: one per stdio connection, one for all HTTP connections. Raises KeyError."""
        return ENDPOINTS[profile](self)

    @property
    def caller(self) -> Caller:
        """The caller over stdio: the operating system user of this process."""
        return Caller(principal=system_user(), tier=self.settings.server.tier)

    def site(self, mcp_path: str | None = None) -> Site:
        """What an HTTP server serves: each profile at its path, under the access rules of the settings."""
        paths = PATHS if mcp_path is None else {**PATHS, "mcp": mcp_path}
        return Site(
            endpoints={paths[profile]: self.endpoint(profile) for profile in ENDPOINTS},
            gatekeeper=gatekeeper_of(self.settings.server),
            max_body=self.settings.server.max_request_bytes,
        )


def gatekeeper_of(server: ServerSettings) -> Gatekeeper:
    """The access rules of an HTTP server: hosts, origins and tokens."""
    return Gatekeeper(
        hosts=LOOPBACK | {host.lower() for host in server.allowed_hosts},
        origins=frozenset(server.allowed_origins),
        tokens=tuple(
            Token(sha256=each.sha256.lower(), principal=each.principal, role=each.role, tier=each.tier)
            for each in server.tokens
        ),
        anonymous=Caller(tier=server.tier),
    )


def _mcp(runtime: Runtime) -> Endpoint:
    prefix = runtime.session_prefix
    return McpEndpoint(OwnBackend(runtime.core, task_prefix=prefix), limits=runtime.limits, session_prefix=prefix)


def _envelope(runtime: Runtime) -> Endpoint:
    ids = Ids.DETERMINISTIC if runtime.deterministic else Ids.FRESH
    core = runtime.core
    return EnvelopeEndpoint(core.catalog, core.pipeline, ids=ids, log=runtime.run_log, limits=runtime.limits)


def _editor(runtime: Runtime) -> Endpoint:
    def info() -> EditorInfo:
        describe = runtime.server.editor
        facts = describe() if describe else EditorFacts(unity_version=NO_UNITY, platform=sys.platform)
        version = runtime.server.identity.version
        return EditorInfo(server_version=version, unity_version=facts.unity_version, platform=facts.platform)

    return EditorEndpoint(runtime.core.catalog, runtime.core.pipeline, info=info, limits=runtime.limits)


NO_UNITY: Final = "none"
"""The Unity version in `server/info` if no Unity project is served."""

ENDPOINTS: Final[Mapping[str, Callable[[Runtime], Endpoint]]] = {
    "mcp": _mcp,
    "envelope/v1": _envelope,
    "editor/0.1": _editor,
}
"""Functions that make the endpoint of each profile."""


class LazyRunLog:
    """Opens the run log with its first event, so that a server without `envelope/v1` clients creates no folder."""

    def __init__(self, root: Path, now: Callable[[], float]) -> None:
        self._root, self._now = root, now
        self._log: FileRunLog | None = None

    def write(self, event: JsonObject) -> None:
        """See RunLog."""
        if self._log is None:
            self._log = FileRunLog(self._root, now=self._now)
        self._log.write(event)

    def close(self) -> None:
        """Close the file, if it is open."""
        if self._log is not None:
            self._log.close()


DRAIN_SECONDS: Final = 2.0
"""How long cancelled handlers may clean up before the lifespan closes what they use. Supervisors kill after 10 seconds."""

PATHS: Mapping[str, str] = {"mcp": "/mcp", "envelope/v1": "/rpc/envelope", "editor/0.1": "/rpc/editor"}
"""The HTTP path of each profile."""


@asynccontextmanager
async def open_runtime(
    server: Served,
    settings: Settings,
    *,
    deterministic: bool = False,
    recorder: Recorder | None = None,
    seal_key: bytes | None = None,
    session_prefix: str = "",
    worker: int | None = None,
    on_raise: Callable[[BaseException], None] | None = None,
) -> AsyncIterator[Runtime]:
    """Open everything that a server needs, and close it at the end. `on_raise` gets what a handler raises, in the context
    of its call.

    Raises LogFault: the audit trail cannot be opened; LifespanFailed: the author's lifespan raised.
    """
    clock = deterministic_clock() if deterministic else Clock()
    async with AsyncExitStack() as stack:
        keeper = recorder if recorder is not None else await open_recorder_of(settings.audit, clock, stack, worker)
        executor = DaemonThreads(settings.server.worker_threads, name="strictwire-handler")
        stack.callback(executor.shutdown, wait=False, cancel_futures=True)
        batch = WriteBatch(keeper)
        stack.callback(batch.flush)
        catalog = await stack.enter_async_context(server.open(executor))
        journal = Journal(recorder=keeper, batch=batch, clock=clock)
        runner = _runner_of(settings, executor, on_raise)
        stack.push_async_callback(runner.drain, DRAIN_SECONDS)
        pipeline = Pipeline(journal, runner)
        key = hashlib.sha256(b"deterministic").digest() if deterministic else seal_key or secrets.token_bytes(32)
        core = Core(
            identity=server.identity,
            catalog=catalog,
            pipeline=pipeline,
            sealer=Sealer(key, clock.now),
            clock=clock,
        )
        run_log = LazyRunLog(Path(settings.server.run_logs), clock.now)
        stack.callback(run_log.close)
        yield Runtime(
            server=server,
            settings=settings,
            core=core,
            batch=batch,
            run_log=run_log,
            deterministic=deterministic,
            session_prefix=session_prefix,
        )


def _runner_of(settings: Settings, executor: Executor, on_raise: Callable[[BaseException], None] | None) -> HandlerRunner:
    slow_ms = settings.log.slow_handler_ms
    if slow_ms <= 0:
        return HandlerRunner(executor, debug_stack=settings.debug_stack, on_raise=on_raise)
    # Imported here because only servers in development look for blocking handlers.
    from strictwire.pipeline.blocking import WatchingRunner

    return WatchingRunner(executor, debug_stack=settings.debug_stack, on_raise=on_raise, slow_ms=slow_ms)


def trail_of(audit: AuditSettings, worker: int | None = None) -> TrailConfig:
    """The configuration of the audit trail, or of that of a worker process: where it is and how it is written."""
    state = state_folder()
    trail = TrailConfig(
        folder=Path(audit.folder) if audit.folder else state / "audit",
        key_path=Path(audit.key) if audit.key else state / "keys" / "audit.key",
        mode=Mode.SYNC if audit.mode == "off" else Mode(audit.mode),
        keeps_values=audit.store_values,
        rotate_bytes=audit.rotate_bytes,
    )
    return trail if worker is None else trail.for_worker(worker)


def private_paths(audit: AuditSettings) -> tuple[Path, ...]:
    """The key and the logs of the audit trail, which settings may place outside the state folder."""
    trail = trail_of(audit)
    return trail.folder.absolute(), trail.key_path.absolute()


def view_of(audit: AuditSettings, worker: int | None = None) -> TrailView | None:
    """Read access to the audit trail; None if the server keeps no trail."""
    return None if audit.mode == "off" else FileTrailView(trail_of(audit, worker))


async def open_recorder_of(audit: AuditSettings, clock: Clock, stack: AsyncExitStack, worker: int | None = None) -> Recorder:
    """Open the audit trail; the stack closes it. Raises LogFault."""
    if audit.mode == "off":
        return NoRecorder()
    refuse_missing_logs(trail_of(audit))
    recorder = await open_trail(trail_of(audit, worker), TrailClock(stamp=clock.timestamp, monotonic=clock.elapsed))
    stack.push_async_callback(recorder.close)
    return recorder
