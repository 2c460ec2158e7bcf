"""One engine of one root: started when it is needed, started again after a failure, and never waited for without end.

Above: `registry`. Below: `session`, one life of the engine.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias

from strictwire.packs.code.engine import EngineFailed, EngineIdentity, EngineState, EngineStatus, EngineTimeout
from strictwire.packs.code.engines.installed import Installed
from strictwire.packs.code.engines.process import Launch
from strictwire.packs.code.engines.projects import documents_to_load
from strictwire.packs.code.engines.session import Answered, Session
from strictwire.packs.code.engines.spec import EngineSpec
from strictwire.packs.code.files import Feed, Files

PATIENCE_SECONDS: Final = 1.0
"""To wait for an engine that is not ready. Enough for one that lists its files again; an answer that is called warming is
more use than none, while one indexes for the first time."""

_WARM_UP_SECONDS: Final = 0.3
"""Between the start of an engine and its warm-up: the first call often follows at once, and warms it too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineLimits:
    """Bounds of one engine."""

    start_seconds: float = 30.0
    """To start and initialise. basedpyright needs 1 s, on a busy machine several."""
    request_seconds: float = 120.0
    """For one request. An engine that takes longer hangs, and is ended."""
    memory_bytes: int = 4 * 1024**3
    """Of the engine with all of its children. basedpyright takes 2.6 GB for Django."""
    first_delay: float = 1.0
    """Seconds before the second restart in a row; the first is at once, each further one waits twice as long."""
    max_delay: float = 60.0
    healthy_seconds: float = 60.0
    """An engine that ran so long has recovered: the next restart is at once again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What an engine serves, and within which bounds."""

    root: Path
    language: str
    limits: EngineLimits
    variables: Mapping[str, str]
    """The environment variables that every engine gets."""


Work: TypeAlias = Callable[[Session, float], Awaitable[Answered]]


class Supervised:
    """See the module."""

    def __init__(self, installed: Installed, files: Files, place: Place, diagnostics_changed: Callable[[], None]) -> None:
        self.spec = installed.spec
        self.place = place
        self.note = _find_note(installed.spec, place.root)
        """Why nothing this engine says is complete; empty if there is no such reason."""
        self._installed = installed
        self._files = files
        self._limits = place.limits
        self._diagnostics_changed = diagnostics_changed
        self._session: Session | None = None
        self._feed: Feed | None = None
        self._starting: asyncio.Task[Session] | None = None
        self._started_at = 0.0
        self._failures = 0
        self._restarts = 0
        self._not_before = 0.0
        self._warming: asyncio.Task[None] | None = None

    @property
    def identity(self) -> EngineIdentity:
        """Who answers."""
        return EngineIdentity(name=self.spec.name, version=self._installed.version, language=self.place.language)

    @property
    def state(self) -> EngineState:
        """What it is doing."""
        pid = self._session.pid if self._session is not None and self._session.failure is None else None
        return EngineState(
            identity=self.identity,
            root=self.place.root,
            status=self._status(),
            install=self.spec.install,
            pid=pid,
            restarts=self._restarts,
        )

    async def run(self, work: Work, *, seconds: float) -> Answered:
        """Do work with the running engine. `work` gets the session and how long to wait for readiness.

        Raises EngineTimeout, EngineFailed, and what `work` raises. A caller that runs out of time cancels its request.
        """
        try:
            async with asyncio.timeout(seconds):
                return await work(await self.start(), min(seconds / 2, PATIENCE_SECONDS))
        except TimeoutError:
            raise EngineTimeout(self.spec.name, seconds) from None

    async def start(self) -> Session:
        """The running engine; it is started if it is not. Raises EngineFailed."""
        if self._session is not None and await self._session.is_usable():
            return self._session
        if self._starting is None:
            self._starting = asyncio.create_task(self._open())
            self._starting.add_done_callback(self._started)
        # Other callers wait for the same start, so one that gives up does not end it.
        return await asyncio.shield(self._starting)

    async def warm(self) -> None:
        """Wait until the engine is warmed up, or has something better to do."""
        if self._warming is not None:
            await asyncio.wait([self._warming])

    def skip_warm_up(self) -> None:
        """A request comes that warms the engine as well: doing both at once would take twice as long."""
        if self._warming is not None:
            self._warming.cancel()

    @property
    def is_busy(self) -> bool:
        """Whether a request is in flight."""
        return self._session is not None and self._session.is_busy

    async def close(self) -> None:
        """End it and everything that waits for it."""
        tasks = [task for task in (self._starting, self._warming) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._drop()

    def _started(self, task: asyncio.Task[Session]) -> None:
        self._starting = None
        if not task.cancelled():
            task.exception()  # read, so that asyncio does not report a failure that no caller waited for

    async def _open(self) -> Session:
        if self._session is not None:
            self._session.fail("it ended by itself")
            self._count_failure()
            await self._drop()
        if asyncio.get_running_loop().time() < self._not_before:
            raise EngineFailed(self.spec.name, "it failed and is started again after a delay")
        session = self._make_session()
        try:
            await self._begin(session)
        finally:
            if not session.has_begun:
                await self._drop()
        for path in documents_to_load(self.spec, self.place.root, self._files.paths):
            session.load(path)
        if self.spec.warm_up:
            self._warming = asyncio.create_task(self._warm_up(session))
        return session

    def _make_session(self) -> Session:
        self._feed = self._files.subscribe(self.place.root)
        # Without what its index needs, an engine gives no sign of being ready, and `note` says so instead.
        spec = replace(self.spec, ready=()) if self.note else self.spec
        self._session = Session(
            spec, self.place.root, self._feed, self._diagnostics_changed, request_seconds=self._limits.request_seconds
        )
        self._started_at = asyncio.get_running_loop().time()
        return self._session

    async def _begin(self, session: Session) -> None:
        launch = Launch(
            command=self._installed.command,
            folder=self.place.root,
            variables={**self.place.variables, **self.spec.variables},
            memory_bytes=self._limits.memory_bytes,
        )
        try:
            async with asyncio.timeout(self._limits.start_seconds):
                await session.begin(launch)
        except TimeoutError:
            session.fail("it did not start in time")
        except EngineFailed:
            pass  # the session has the reason
        if session.failure is not None:
            self._count_failure()
            raise EngineFailed(self.spec.name, session.failure)

    async def _warm_up(self, session: Session) -> None:
        await asyncio.sleep(_WARM_UP_SECONDS)
        with suppress(EngineFailed):
            await session.ask("workspace/symbol", {"query": self.spec.warm_up}, path=None, patience=0)

    def _count_failure(self) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._started_at > self._limits.healthy_seconds:
            self._failures = 0
        delay = self._limits.first_delay * 2 ** (self._failures - 1) if self._failures else 0.0
        self._not_before = now + min(delay, self._limits.max_delay)
        self._failures += 1
        self._restarts += 1

    async def _drop(self) -> None:
        session, self._session = self._session, None
        if self._feed is not None:
            self._files.unsubscribe(self._feed)
            self._feed = None
        if session is not None:
            await session.close()

    def _status(self) -> EngineStatus:
        if self._starting is not None:
            return EngineStatus.STARTING
        if self._session is None:
            return EngineStatus.FAILED if self._failures else EngineStatus.STOPPED
        if self._session.failure is not None:
            return EngineStatus.FAILED
        return EngineStatus.READY if self._session.barrier.is_ready else EngineStatus.WARMING


def _find_note(spec: EngineSpec, root: Path) -> str:
    if not spec.known_ready:
        return f"{spec.name} does not show whether it has indexed everything"
    if spec.index_needs and not any((root / name).exists() for name in spec.index_needs):
        return f"no {spec.index_needs[0]}: {spec.name} indexes open files alone"
    return ""
