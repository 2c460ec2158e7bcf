"""What every tool does around its own work: gate, documents, engines, snapshots, retained sets, time limits.

A tool describes one request (`Request`) and how to gather its result; the service answers it from what is kept, or
gathers it once for all calls that ask the same, and keeps it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from strictwire.canon.json import JsonObject, JsonValue, render
from strictwire.contract.handler import Answer
from strictwire.fault.failure import Refused, fail
from strictwire.packs.code.answers import summaries
from strictwire.packs.code.cache import AnswerCache
from strictwire.packs.code.documents import Documents
from strictwire.packs.code.engine import (
    CodeBase,
    Completeness,
    EngineFailed,
    EngineIdentity,
    EngineMissing,
    EngineTimeout,
    EngineUnsupported,
    Reply,
)
from strictwire.packs.code.flight import Flights, timed_out
from strictwire.packs.code.found import Evidence, Found
from strictwire.packs.code.gate import Gate
from strictwire.packs.code.limits import PAGE_ITEMS, ToolSettings
from strictwire.packs.code.present import Lines, Presenter
from strictwire.packs.code.snapshot import is_same_content, render_engines, render_state
from strictwire.packs.kit.paging import Page, PageKey, Pages, page_key

_ATTEMPTS: Final = 3
"""How often a result is gathered before files that keep changing make it partial."""

CHANGED: Final = "files changed during the call"
"""The note of such a result."""

ROOT_MISSING: Final = "a root folder does not exist at present"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call, without its page: the same request in the same state has the same result."""

    operation: str
    """The tool's name without its prefix."""
    inputs: tuple[JsonValue, ...]
    """What the result depends on, in the order of A.4."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """A whole set of items, in its order, and the evidence for all of it."""

    items: list[JsonObject]
    evidence: Evidence
    facts: JsonObject
    """Further members that every page needs to be presented."""


Gather: TypeAlias = Callable[[], Awaitable[Gathered]]
Show: TypeAlias = Callable[[Page, Evidence], Found]
Find: TypeAlias = Callable[[], Awaitable[Found]]
Result = TypeVar("Result", Found, Gathered)


def show_page(noun: str, plural: str = "") -> Show:
    """The usual page: its items, the next cursor and a summary that counts."""

    def show(page: Page, evidence: Evidence) -> Found:
        summary = summaries.page(len(page.items), noun, more=page.next_cursor is not None, plural=plural)
        return Found(members={**page.as_json(), "summary": summary}, evidence=evidence)

    return show


class Service:
    """See the module. One for each opened pack; lives on one event loop."""

    def __init__(self, code: CodeBase, settings: ToolSettings, *, clock: Callable[[], float]) -> None:
        self.code = code
        self.settings = settings
        self.gate = Gate(code.roots, code.holds)
        self.documents = Documents(max_bytes=settings.max_file_bytes)
        self.presenter = Presenter.make(settings, self.gate.roots)
        self.prefix = "vscode_lsp_" if settings.drop_in else "code_"
        self._pages = Pages(clock=clock, limits=settings.pages)
        self._answers: AnswerCache[Found] = AnswerCache()
        self._shown: AnswerCache[Answer] = AnswerCache()
        self._values: AnswerCache[JsonObject] = AnswerCache()
        self._finding: Flights[Found] = Flights(late_seconds=settings.late_seconds)
        self._gathering: Flights[tuple[PageKey, Gathered]] = Flights(late_seconds=settings.late_seconds)
        self._recalling: Flights[JsonObject] = Flights(late_seconds=settings.late_seconds)

    async def close(self) -> None:
        """Stop the work that is under way."""
        for flights in (self._finding, self._gathering, self._recalling):
            await flights.close()

    # --- answers

    async def answer(self, request: Request, find: Find, lines: Lines) -> Answer:
        """The answer of a tool without pages."""
        key = await self._key(request)
        found = self._answers.maybe_get(request.operation, key.snapshot)
        if found is None:
            work = partial(self._find, request, find)
            found = await self._finding.join(key.snapshot, work)
        return self.presenter.answer(found, lines)

    async def page(self, request: Request, arguments: Mapping[str, Any], gather: Gather, show: Show, lines: Lines) -> Answer:
        """One page of a set, as `show` makes it from the page and the evidence for all of it.

        Raises Refused: CURSOR_INVALID, CURSOR_STALE, CURSOR_EXPIRED, SNAPSHOT_TOO_LARGE, CAP_EXCEEDED, and what the
        gathering refuses with.
        """
        cursor = arguments.get("cursor")
        size = min(arguments.get("pageSize", PAGE_ITEMS), self.settings.max_items_per_page)
        key = await self._key(request)
        name = f"{key.snapshot} {size} {cursor}"
        if self._pages.has(key, cursor=cursor) and (known := self._shown.maybe_get(request.operation, name)) is not None:
            return known
        page = await self._cut(request, key, cursor, size, gather)
        evidence = _read_evidence(page)
        answer = self.presenter.answer(show(page, evidence), lines)
        if evidence.completeness is not Completeness.WARMING:
            self._shown.put(request.operation, name, answer, size=len(render(answer.structured)))  # type: ignore[arg-type]
        return answer

    async def _cut(self, request: Request, key: PageKey, cursor: str | None, size: int, gather: Gather) -> Page:
        """A page of the set that is kept, or of one that is gathered now."""
        room = self.presenter.page_bytes
        page = self._pages.resume(key, cursor=cursor, size=size, page_bytes=room)
        if page is not None and (cursor is not None or _read_evidence(page).completeness is not Completeness.WARMING):
            return page
        work = partial(self._gather, request, gather)
        kept, gathered = await self._gathering.join(key.snapshot, work)
        page = self._pages.resume(kept, cursor=None, size=size, page_bytes=room)
        if page is None:  # pushed out already by other sets: kept once more, to cut this page from
            page = self._pages.keep(kept, gathered.items, facts=_facts(gathered), size=size, page_bytes=room)
        return page

    async def recall(self, request: Request, find: Callable[[], Awaitable[JsonObject]]) -> JsonObject:
        """A value that depends on the files and engines alone, kept until they change. What `find` raises is not kept."""
        key = await self._key(request)
        known = self._values.maybe_get(request.operation, key.snapshot)
        return known or await self._recalling.join(key.snapshot, partial(self._recall, request, key, find))

    async def _recall(self, request: Request, key: PageKey, find: Callable[[], Awaitable[JsonObject]]) -> JsonObject:
        value = await find()
        if key == await self._key(request):
            self._values.put(request.operation, key.snapshot, value, size=len(render(value)))
        return value

    async def _find(self, request: Request, find: Find) -> Found:
        found, key = await self._settle(request, find)
        if found.evidence.completeness is not Completeness.WARMING:
            self._answers.put(request.operation, key.snapshot, found, size=len(render(found.members)))
        return found

    async def _gather(self, request: Request, gather: Gather) -> tuple[PageKey, Gathered]:
        gathered, key = await self._settle(request, gather)
        self._pages.forget(key)
        self._pages.keep(key, gathered.items, facts=_facts(gathered), size=1)
        return key, gathered

    async def _settle(self, request: Request, work: Callable[[], Awaitable[Result]]) -> tuple[Result, PageKey]:
        """A result that no change of a file fell into, and its key; after some attempts a partial one."""
        for _ in range(_ATTEMPTS):
            before = self.code.engines.epochs()
            result = await work()
            if is_same_content(before, self.code.engines.epochs()):
                return replace(result, evidence=self.judge(result.evidence)), await self._key(request)
        evidence = result.evidence.but(Completeness.PARTIAL, CHANGED)
        return replace(result, evidence=evidence), await self._key(request)

    def judge(self, evidence: Evidence) -> Evidence:
        """The same evidence; partial while a root is missing, for nothing in it was searched."""
        is_whole = all(root.is_dir() for root in self.gate.roots)
        return evidence if is_whole else evidence.but(Completeness.PARTIAL, ROOT_MISSING)

    async def _key(self, request: Request) -> PageKey:
        engines = render_engines(await self.code.engines.states())
        epochs = self.code.engines.epochs()
        state = render_state(request.operation, roots=self.gate.key, epochs=epochs, engines=engines)
        return page_key(self.prefix + request.operation, request.inputs, state)

    # --- engines

    async def ask(self, path: Path, method: str, params: JsonObject) -> Reply:
        """Ask the engine of a document.

        Raises Refused: NOT_FOUND, PROVIDER_UNAVAILABLE (also for a method that the engine does not have), CAP_EXCEEDED.
        """
        async with engine_failures():
            return await self.code.engines.ask(path, method, params, seconds=self.settings.late_seconds)

    async def maybe_ask(self, path: Path, method: str, params: JsonObject) -> Reply | None:
        """The same; None if the engine does not have the method."""
        async with engine_failures():
            try:
                return await self.code.engines.ask(path, method, params, seconds=self.settings.late_seconds)
            except EngineUnsupported:
                return None

    async def ask_all(self, method: str, params: JsonObject) -> tuple[Reply, ...]:
        """Ask every engine of the roots. Raises Refused: PROVIDER_UNAVAILABLE, CAP_EXCEEDED."""
        async with engine_failures():
            return await self.code.engines.ask_all(method, params, seconds=self.settings.late_seconds)


@asynccontextmanager
async def engine_failures() -> AsyncIterator[None]:
    """Gives what an engine raises its code (A.6). The engine's own text never passes."""
    try:
        yield
    except EngineMissing as exc:
        raise Refused(fail("PROVIDER_UNAVAILABLE", text=_missing(exc), details={"install": exc.install})) from exc
    except EngineFailed as exc:
        raise Refused(fail("PROVIDER_UNAVAILABLE", details={"reason": exc.reason})) from exc
    except EngineTimeout as exc:
        raise timed_out() from exc
    except OSError as exc:
        raise Refused(fail("NOT_FOUND")) from exc


def _missing(exc: EngineMissing) -> str:
    hint = f"; install one with: {exc.install}" if exc.install else ""
    return f"No engine for {exc.language or 'this language'}{hint}"


def _facts(gathered: Gathered) -> JsonObject:
    return {"evidence": gathered.evidence.as_json(), **gathered.facts}


def _read_evidence(page: Page) -> Evidence:
    """The evidence that was kept with a set."""
    kept = page.facts["evidence"]
    return Evidence(
        engines=tuple(EngineIdentity(**each) for each in kept["engines"]),
        completeness=Completeness(kept["completeness"]),
        note=kept.get("note", ""),
        unconfirmed=kept.get("unconfirmed"),
        outside=kept.get("outside", 0),
    )
