"""One running engine from `initialize` to its end: in sync with the disk before every request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.packs.code.engine import EngineFailed, EngineUnsupported
from strictwire.packs.code.engines.barrier import Barrier
from strictwire.packs.code.engines.hello import PROVIDERS, answers, initialize_params
from strictwire.packs.code.engines.leash import NOT_FOUND, TOO_MUCH_MEMORY
from strictwire.packs.code.engines.process import Launch, Process, start
from strictwire.packs.code.engines.pushed import PushedDiagnostics
from strictwire.packs.code.engines.spec import EngineSpec, Hint
from strictwire.packs.code.engines.sync import Sync, TooManyChanges
from strictwire.packs.code.files import Feed, FileChange
from strictwire.packs.code.languages import maybe_language
from strictwire.packs.code.lsp.client import METHOD_NOT_FOUND, RETRY_CODES, Broken, Client, RequestRefused
from strictwire.packs.code.uri import render_file_uri

INDEXED: Final = frozenset(
    {
        "textDocument/references",
        "textDocument/implementation",
        "callHierarchy/incomingCalls",
        "workspace/symbol",
        "workspace/diagnostic",
    }
)
"""Methods whose answer depends on the whole root. Others are answered from the document and what it imports."""

_ATTEMPTS: Final = 3
"""How often a request is sent when the engine says that files changed under it."""

_GOODBYE_SECONDS: Final = 1.0
"""For `shutdown`. Engines need under 50 ms; one that does not answer is killed."""

_EXITS: Final = {
    NOT_FOUND: "its command cannot be run",
    TOO_MUCH_MEMORY: "it used more memory than allowed",
}


@dataclass(frozen=True, slots=True)
class Answered:
    """A result, and whether the engine was ready from the request to the reply."""

    value: JsonValue
    ready: bool
    gap: str = ""
    """Why something is missing, although the engine was ready."""


class Session:
    """See the module. `begin` is called once; when `failure` is set, it is over."""

    def __init__(
        self,
        spec: EngineSpec,
        root: Path,
        feed: Feed,
        diagnostics_changed: Callable[[], None] = lambda: None,
        *,
        request_seconds: float,
    ) -> None:
        self.failure: str | None = None
        self.barrier = Barrier(spec.ready)
        self._spec = spec
        self._root = root
        self._feed = feed
        self._request_seconds = request_seconds
        self._client = Client(self._write, self, answers(spec, root))
        self._sync = Sync(spec, self._notify)
        self._pushed = PushedDiagnostics(diagnostics_changed)
        self.has_begun = False
        """Whether the engine is initialised."""
        self._is_ending = False
        self._process: Process | None = None
        self._capabilities: JsonObject = {}
        self._settling: asyncio.Future[list[None]] | None = None

    @property
    def pid(self) -> int | None:
        """The process of the leash."""
        return self._process.pid if self._process is not None else None

    async def is_usable(self) -> bool:
        """Whether it can be asked. One that is just ending is waited for, which takes half a second at most."""
        # A killed engine has closed its output, but a call may arrive in the turn of the event loop that finds out.
        # Reading takes the next turn, and asyncio reports the end some turns later.
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        if self._process is not None and self._process.has_closed_output:
            self._is_ending = True
        if self._is_ending and self.failure is None and self._process is not None:
            await self._process.wait()
        return self.has_begun and self.failure is None and not self._is_ending

    @property
    def is_busy(self) -> bool:
        """Whether a request is in flight."""
        return self._client.in_flight > 0

    def offers(self, method: str) -> bool:
        """Whether the engine declared the capability for a method."""
        if method == "workspace/diagnostic":
            provider = self._capabilities.get("diagnosticProvider")
            return isinstance(provider, dict) and bool(provider.get("workspaceDiagnostics"))
        provider = self._capabilities.get(PROVIDERS.get(method, ""))
        return provider is not None and provider is not False

    async def begin(self, launch: Launch) -> None:
        """Start the process and initialise it. Raises EngineFailed."""
        try:
            self._process = await start(launch, self)
            found = await self._client.request("initialize", initialize_params(self._spec, self._root))
            self._capabilities = _read_capabilities(found)
            self._client.notify("initialized", {})
            self.has_begun = True
        except (OSError, Broken, RequestRefused) as exc:
            raise self._failed("it did not start") from exc

    async def ask(self, method: str, params: JsonObject, *, path: str | None, patience: float) -> Answered:
        """Ask, with everything on disk known to the engine. `patience` is how long to wait for readiness.

        Raises EngineFailed, EngineUnsupported; OSError if the document cannot be read.
        """
        if method != "workspace/diagnostic" and not self.offers(method):
            raise EngineUnsupported(self._spec.name, f"{self._spec.name} does not offer {method}")
        await self._catch_up()
        if path is not None and self._spec.opens:
            self._sync.open(path)
        if method in INDEXED:
            await self.barrier.wait(patience)
        if path is not None and method.startswith("textDocument/"):
            params = {"textDocument": {"uri": render_file_uri(path)}, **params}
        ready = self.barrier.is_ready
        value = await self._request(method, params)
        return Answered(value, ready and self.barrier.is_ready)

    async def diagnose(self, path: str) -> Answered:
        """The diagnostics of a document as a list, pulled or pushed. Raises as `ask`."""
        if self.offers("textDocument/diagnostic"):
            report = await self.ask("textDocument/diagnostic", {}, path=path, patience=0)
            items = report.value.get("items") if isinstance(report.value, dict) else None
            return Answered(items if isinstance(items, list) else [], report.ready)
        await self._catch_up()
        items = await self._pushed.wait(render_file_uri(path), self._sync.renew(path))
        return Answered(items, self.barrier.is_ready)

    def load(self, path: str) -> None:
        """Open a document so that the engine loads the project around it. Files that are no text are passed over."""
        with suppress(OSError, EngineFailed):
            self._sync.open(path)

    def fail(self, reason: str) -> None:
        """End the process and every request in flight; the first reason counts."""
        if self.failure is None:
            self.failure = reason
            if self._process is not None:
                self._process.kill()
            self._client.end(Broken(reason))
            self._pushed.end(EngineFailed(self._spec.name, reason))

    async def close(self) -> None:
        """Say goodbye, then end the process and everything it started."""
        if self._process is None:
            return
        with suppress(Broken, RequestRefused, TimeoutError, EngineFailed):
            async with asyncio.timeout(_GOODBYE_SECONDS):
                await self._client.request("shutdown", None)
                self._client.notify("exit", {})
                await self._process.wait()
        self._client.end(Broken("it was stopped"))
        await self._process.end()

    def on_output(self, data: bytes) -> None:
        """See process.Owner."""
        try:
            self._client.receive(data)
        except Broken as exc:
            self.fail(exc.reason)

    def on_output_end(self) -> None:
        """See process.Owner. Its exit code, and so the reason, follows in a moment."""
        self._is_ending = True

    def on_line(self, line: str) -> None:
        """See process.Owner."""
        self.barrier.see(Hint.STDERR, line)

    def on_exit(self, code: int) -> None:
        """See process.Owner."""
        self.fail(_EXITS.get(code, "it ended by itself"))

    def on_notification(self, method: str, params: JsonObject) -> None:
        """See client.Listener."""
        if method == "textDocument/publishDiagnostics":
            self._pushed.take(params)
            self.barrier.see(Hint.DIAGNOSTICS, str(params.get("uri")))
        elif method == "window/logMessage":
            self.barrier.see(Hint.LOG, str(params.get("message")))
        elif method == "$/progress":
            self.barrier.see_progress(params)

    async def _catch_up(self) -> None:
        changes = self._feed.take()
        if changes:
            self._settling = self._tell(changes)
        if self._settling is not None:
            await asyncio.wait([self._settling])

    def _tell(self, changes: dict[str, FileChange]) -> asyncio.Future[list[None]] | None:
        try:
            waiting = self._sync.apply(changes)
        except TooManyChanges:
            self.fail("too many files changed at once")
            raise EngineFailed(self._spec.name, "too many files changed at once") from None
        if self._spec.relists and any(self._is_listed(path, change) for path, change in changes.items()):
            self.barrier.reset()
        if not waiting:
            return None
        # The reply to any request about a document shows that the engine has read its new text.
        return asyncio.gather(*(self._look_at(path) for path in waiting))

    def _is_listed(self, path: str, change: FileChange) -> bool:
        return change is not FileChange.CHANGED and maybe_language(path) in self._spec.languages

    async def _look_at(self, path: str) -> None:
        with suppress(EngineFailed):
            await self._request("textDocument/documentSymbol", {"textDocument": {"uri": render_file_uri(path)}})

    async def _request(self, method: str, params: JsonObject) -> JsonValue:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                async with asyncio.timeout(self._request_seconds):
                    return await self._client.request(method, params)
            except TimeoutError:
                raise self._failed("it does not answer") from None
            except RequestRefused as exc:
                if exc.code == METHOD_NOT_FOUND:
                    raise EngineUnsupported(self._spec.name, f"{self._spec.name} does not offer {method}") from exc
                if attempt == _ATTEMPTS or exc.code not in RETRY_CODES:
                    raise EngineFailed(self._spec.name, "it refused the request") from exc
            except Broken as exc:
                raise self._failed(exc.reason) from exc
        raise AssertionError("the last attempt returns or raises")

    def _notify(self, method: str, params: JsonObject) -> None:
        if method in ("textDocument/didOpen", "textDocument/didChange"):
            self._pushed.forget(params["textDocument"]["uri"])
        try:
            self._client.notify(method, params)
        except Broken as exc:
            raise self._failed(exc.reason) from exc

    def _write(self, data: bytes) -> None:
        try:
            if self._process is not None:
                self._process.write(data)
        except BrokenPipeError:
            self.fail("it does not read its input")
            raise Broken("it does not read its input") from None

    def _failed(self, reason: str) -> EngineFailed:
        self.fail(reason)
        return EngineFailed(self._spec.name, self.failure or reason)


def _read_capabilities(found: JsonValue) -> JsonObject:
    """The capabilities of an `initialize` result. Raises Broken: it has none, or they are no object."""
    capabilities = found.get("capabilities") if isinstance(found, dict) else None
    if not isinstance(capabilities, dict):
        raise Broken("it did not start")
    return capabilities
