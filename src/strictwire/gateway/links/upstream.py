"""One upstream: its links, the eras that it speaks, its health."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Collection, Iterable
from typing import Final

from strictwire.canon.json import JsonObject, render
from strictwire.client.background import BackgroundTasks
from strictwire.client.errors import CannotReach, ClientError, NotUnderstood, ServerGone, TimedOut
from strictwire.client.message import MODERN_VERSION, Era, Identity, initialize_params, modern_params
from strictwire.fault.failure import Failure
from strictwire.gateway.links.background import retrieve_exception
from strictwire.gateway.links.connector import UpstreamTarget, connector_for
from strictwire.gateway.links.errors import EraNotSpoken, RestartDelayed, failure_of, timed_out
from strictwire.gateway.links.health import Health, UpstreamState, reason_of
from strictwire.gateway.links.link import Link, Listener, NullListener, UpstreamRequest, WatchedLink
from strictwire.gateway.links.notifications import IdleTimeout, StreamListener
from strictwire.gateway.links.raw_message import UpstreamAnswer
from strictwire.gateway.links.stdio_link import StdioLink
from strictwire.gateway.options import RelayOptions

OPENING_SECONDS: Final = 20.0
"""Time for the first answer of a process: package runners such as npx may have to download it first."""

ERA_SECONDS: Final = 300.0
"""How long the guard remembers that an upstream does not speak an era, before it tries again."""

HEALTH_CHECKS: Final = {Era.MODERN: "server/discover", Era.LEGACY: "ping"}
"""A request that every server of the era answers."""


NO_OPTIONS: Final = RelayOptions()


class Upstream:
    """Opens links: one that all clients of the stateless era share, and one for each legacy session."""

    def __init__(self, target: UpstreamTarget, identity: Identity, options: RelayOptions = NO_OPTIONS) -> None:
        """`identity` is the guard's own, for requests that no client made."""
        self.target = target
        self._options = options
        self.health = Health(target.name)
        self.discovery: JsonObject = {}
        """The last answer to `server/discover`; empty before the first."""
        self._identity = identity
        self._connector = connector_for(target, self._note_down)
        self._opening: asyncio.Task[Link] | None = None
        self._shared: Link | None = None
        self._spare: StdioLink | None = None
        """A process that was started for the stateless era and does not speak it; the first session takes it over."""
        self._stateless_after = 0.0
        """When the stateless era is tried again, after the upstream did not speak it."""
        self._sessions_after = 0.0
        """When a session is tried again, after the upstream refused one."""
        self._numbers = itertools.count(1)
        self._checks = BackgroundTasks()

    async def send(
        self, request: UpstreamRequest, link: Link, listener: StreamListener, options: RelayOptions
    ) -> UpstreamAnswer | Failure:
        """Send a request of a client and wait for the answer, within the time limits of the options."""
        listener.idle = idle = IdleTimeout(options.idle_seconds, options.total_seconds)
        try:
            async with idle.timeout:
                answer = await link.request(request, listener)
        except TimeoutError:
            self._check_later(link, listener.era)
            return timed_out(options.idle_seconds)
        except ClientError as exc:
            if isinstance(exc, CannotReach):
                self._note_down(exc)
            return failure_of(exc)
        if self.health.state is not UpstreamState.UP:
            self.health.note_up()
        return answer

    async def ask(self, request: UpstreamRequest, link: Link, era: Era, seconds: float) -> UpstreamAnswer:
        """Send a request of the guard itself. Raises ClientError, TimedOut among them."""
        try:
            async with asyncio.timeout(seconds):
                return await link.request(request, NullListener())
        except TimeoutError as exc:
            self._check_later(link, era)
            raise TimedOut(request.method, self._options.idle_seconds) from exc

    async def shared_link(self, seconds: float | None = None) -> Link:
        """The link of the stateless era. If it has to be opened first, waits for at most `seconds`, and the link goes on
        opening for the next request. Raises EraNotSpoken, ClientError.
        """
        if self._shared is not None and self._shared.alive:
            return self._shared
        if self._opening is None or self._opening.done():
            self._opening = asyncio.create_task(self._open_shared(self._shared))
            self._opening.add_done_callback(retrieve_exception)
        return await wait_for_link(self._opening, seconds)

    async def session_link(self, listener: Listener) -> Link:
        """A link for one legacy session, before `initialize`. Raises ClientError."""
        spare, self._spare = self._spare, None
        if spare is not None and spare.alive:
            spare.switch_era(Era.LEGACY, listener)
            self._checks.start(self._watch(spare, Era.LEGACY))
            return spare
        link = await self._connector.open(Era.LEGACY, listener)
        self._checks.start(self._watch(link, Era.LEGACY))
        return link

    @property
    def has_sessions(self) -> bool:
        """False for a while after the upstream refused a session, so that no process is started in vain."""
        return time.monotonic() >= self._sessions_after

    def note_no_sessions(self) -> None:
        """The upstream refused a session, and speaks the stateless era."""
        self._sessions_after = time.monotonic() + ERA_SECONDS

    def note_end(self) -> None:
        """A link ended by itself."""
        self._connector.note_end()

    async def close(self) -> None:
        """Close every link."""
        await self._checks.cancel()
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.gather(self._opening, return_exceptions=True)
        for link in (self._shared, self._spare):
            if link is not None:
                await link.close()
        await self._connector.close()

    def make_request(self, method: str, params: JsonObject, era: Era) -> UpstreamRequest:
        """A request of the guard itself. It declares no client capabilities."""
        number = f"strictwire-guard-{next(self._numbers)}"
        full = modern_params(params, self._identity) if era is Era.MODERN else params
        raw = render({"jsonrpc": "2.0", "id": number, "method": method, "params": full})
        return UpstreamRequest(id=number, method=method, params=full, raw=raw)

    def make_initialize(self) -> UpstreamRequest:
        """An `initialize` of the guard itself."""
        return self.make_request("initialize", initialize_params(self._identity), Era.LEGACY)

    async def _open_shared(self, dead: Link | None) -> Link:
        if dead is not None:
            self._shared = None
            self.note_end()
            await dead.close()
        if time.monotonic() < self._stateless_after:
            raise EraNotSpoken
        link = None
        try:
            link = await self._connector.open(Era.MODERN, NullListener())
            self.discovery = await self._discover(link)
        except BaseException as exc:
            self._note_failure(exc)
            if isinstance(exc, EraNotSpoken) and exc.answered and isinstance(link, StdioLink):
                self._spare = link
            elif link is not None:
                await link.close()
            raise
        self._shared = link
        self.health.note_up()
        self._checks.start(self._watch(link, Era.MODERN))
        return link

    async def _watch(self, link: WatchedLink, era: Era) -> None:
        """Check a link at intervals for as long as it is open, so that a hung upstream is noticed before a call needs it."""
        while link.alive:
            await asyncio.sleep(self._options.health_seconds)
            if link.alive and not link.is_busy:
                await self._check(link, era)

    async def _check(self, link: WatchedLink, era: Era) -> None:
        """Ask an idle upstream for a sign of life. It counts as down if it is late, and its process is ended only if it is
        silent for as long as a call may be: an upstream may be busy with something of its own.
        """
        patience = max(self._options.idle_seconds, self._options.liveness_seconds)
        check = self.make_request(HEALTH_CHECKS[era], {}, era)
        late = asyncio.get_running_loop().call_later(self._options.liveness_seconds, self._note_late, link)
        try:
            async with asyncio.timeout(patience):
                await link.request(check, NullListener())
        except TimeoutError:
            await link.check_alive(self.make_request(HEALTH_CHECKS[era], {}, era), self._options.liveness_seconds)
        except ClientError as exc:
            if isinstance(exc, CannotReach):
                self._note_down(exc)
        else:
            self.health.note_up()
        finally:
            late.cancel()

    def _note_late(self, link: WatchedLink) -> None:
        if link.alive:
            self._note_down(TimedOut("a health check", self._options.liveness_seconds))

    def _check_later(self, link: Link, era: Era) -> None:
        """After a timeout, in the background: whether the upstream is slow or hangs matters to the next request, not to
        this one."""
        check = self.make_request(HEALTH_CHECKS[era], {}, era)
        self._checks.start(link.check_alive(check, self._options.liveness_seconds))

    async def _discover(self, link: Link) -> JsonObject:
        """Raises EraNotSpoken: refused, not understood, no answer, or only other versions."""
        try:
            async with asyncio.timeout(OPENING_SECONDS):
                answer = await link.request(self.make_request("server/discover", {}, Era.MODERN), NullListener())
        except (TimeoutError, NotUnderstood, TimedOut) as exc:
            self._stateless_after = time.monotonic() + ERA_SECONDS
            raise EraNotSpoken from exc
        versions = (answer.result or {}).get("supportedVersions")
        if not isinstance(versions, list) or MODERN_VERSION not in versions:
            self._stateless_after = time.monotonic() + ERA_SECONDS
            raise EraNotSpoken(answered=True)
        return answer.result or {}

    def _note_down(self, error: ClientError) -> None:
        self.health.note_down(reason_of(error))

    def _note_failure(self, exc: BaseException) -> None:
        if isinstance(exc, ServerGone):
            self.note_end()
        if isinstance(exc, ClientError) and not isinstance(exc, RestartDelayed):
            self._note_down(exc)


async def handshake(
    link: Link,
    initialize: UpstreamRequest,
    initialized: bytes | None,
    *,
    versions: Collection[str],
    settings: Iterable[UpstreamRequest] = (),
) -> JsonObject:
    """Open a session on a link and repeat the requests of `settings` in it. Returns the result of `initialize`.

    If that fails, the link is closed. Raises ClientError.
    """
    try:
        async with asyncio.timeout(OPENING_SECONDS):
            opened = _check_version(await link.request(initialize, NullListener()), versions)
            if initialized is not None:
                await link.send(initialized)
            for request in settings:
                await link.request(request, NullListener())
    except BaseException as exc:
        await link.close()
        if isinstance(exc, TimeoutError):
            raise NotUnderstood("initialize is not answered") from exc
        raise
    return opened


def _check_version(answer: UpstreamAnswer, versions: Collection[str]) -> JsonObject:
    if answer.result is None or answer.result.get("protocolVersion") not in versions:
        raise NotUnderstood("initialize is refused, or answered with another version")
    return answer.result


async def wait_for_link(opening: asyncio.Task[Link], seconds: float | None) -> Link:
    """Wait for a link that is being opened. Shielded: other requests wait for the same start, and it may be a slow one.

    Raises ClientError, TimedOut among them.
    """
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.shield(opening)
    except TimeoutError as exc:
        raise TimedOut("the start", seconds or 0) from exc
