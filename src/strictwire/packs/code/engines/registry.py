"""Every engine of every root: finds the one that serves a file, asks it, and says how complete the answer is."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.packs.code.engine import (
    Completeness,
    EngineIdentity,
    EngineMissing,
    EngineState,
    EngineStatus,
    EngineTimeout,
    Epochs,
    Reply,
)
from strictwire.packs.code.engines import fallback
from strictwire.packs.code.engines.installed import Installed, Programs
from strictwire.packs.code.engines.judged import judge
from strictwire.packs.code.engines.needed import Key, Needed
from strictwire.packs.code.engines.process import passed_on
from strictwire.packs.code.engines.session import Answered, Session
from strictwire.packs.code.engines.spec import EngineSpec
from strictwire.packs.code.engines.supervised import EngineLimits, Place, Supervised, Work
from strictwire.packs.code.engines.table import BUILT_IN, DEFAULTS
from strictwire.packs.code.engines.workspace import ask_diagnostics, merge
from strictwire.packs.code.files import Files
from strictwire.packs.code.languages import maybe_language
from strictwire.packs.code.lines import MAX_TEXT
from strictwire.packs.code.syntax.kept import KeptSymbols

MISSING_SECONDS: Final = 5.0
"""Between two looks for an engine that is not installed. It may be installed while we run."""


MAX_PARSED: Final = 2_000
"""Files of a language without an engine that are parsed at the start, 2 ms each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineChoice:
    """Which engines there are, and how they are run."""

    engines: Mapping[str, EngineSpec] = field(default_factory=lambda: BUILT_IN)
    languages: Mapping[str, str] = field(default_factory=lambda: DEFAULTS)
    """Language to the name of its engine."""
    limits: EngineLimits = field(default_factory=EngineLimits)
    variables: Mapping[str, str] = field(default_factory=dict)
    """The server's environment variables."""


class LanguageEngines:
    """See engine.Engines. One process for each language and root."""

    def __init__(self, files: Files, choice: EngineChoice, kept: KeptSymbols) -> None:
        self._files = files
        self._kept = kept
        self._choice = choice
        self._needed = Needed(files)
        self._programs = Programs(choice.variables)
        self._finding: dict[str, asyncio.Task[Installed | None]] = {}
        self._missing_until: dict[str, float] = {}
        self._engines: dict[Key, Supervised] = {}
        self._diagnostics = 0

    async def ask(self, path: Path, method: str, params: JsonObject, *, seconds: float) -> Reply:
        """See Engines."""
        self._files.refresh()
        _check_readable(path)
        language = maybe_language(path)
        if language is None:
            raise EngineMissing("plaintext")
        engine = await self._maybe_engine((self._needed.root_of(str(path)), language), seconds)
        if engine is not None:
            return await self._ask(engine, method, params, path=str(path), seconds=seconds)
        if method == "textDocument/documentSymbol":
            reply = await fallback.ask_document(self._kept, str(path), self._missing_note(language))
            if reply is not None:
                return reply
        spec = self._maybe_spec(language)
        raise EngineMissing(language, spec.install if spec is not None else "")

    async def ask_all(self, method: str, params: JsonObject, *, seconds: float) -> tuple[Reply, ...]:
        """See Engines."""
        self._files.refresh()
        keys = self._needed.all()
        asked = (self._ask_workspace(key, method, params, seconds) for key in keys)
        replies = await asyncio.gather(*asked, return_exceptions=True)
        return merge(replies, [self._empty_reply(key, method, reply) for key, reply in zip(keys, replies, strict=True)])

    def epochs(self) -> Epochs:
        """See Engines."""
        self._files.refresh()
        files = self._files
        return Epochs(
            roots=files.root_changes,
            text=files.text,
            fs=files.fs,
            diagnostics=self._diagnostics + files.text + files.fs + files.root_changes,
        )

    async def states(self) -> tuple[EngineState, ...]:
        """See Engines."""
        self._files.refresh()
        return tuple([await self._state(key) for key in self._needed.all()])

    async def find(self) -> None:
        """Find the engines of every language, so that the first call need not wait for their versions."""
        chosen = filter(None, map(self._maybe_spec, self._choice.languages))
        seconds = self._choice.limits.start_seconds
        await asyncio.gather(*(self._maybe_installed(spec, seconds) for spec in chosen), return_exceptions=True)

    async def start(self) -> None:
        """Start every engine that the roots need and warm it up. Failures show when an engine is asked."""
        await asyncio.gather(*(self._start(key) for key in self._needed.all()), return_exceptions=True)

    async def _start(self, key: Key) -> None:
        engine = await self._maybe_engine(key, self._choice.limits.start_seconds)
        if engine is not None:
            await engine.start()
            await engine.warm()
        else:
            await self._kept.read(self._needed.paths(key)[:MAX_PARSED])

    def is_busy(self) -> bool:
        """Whether any engine has a request in flight."""
        return any(engine.is_busy for engine in self._engines.values())

    async def close(self) -> None:
        """End every engine."""
        for task in self._finding.values():
            task.cancel()
        await asyncio.gather(*self._finding.values(), return_exceptions=True)
        await asyncio.gather(*(engine.close() for engine in self._engines.values()))

    async def _ask(self, engine: Supervised, method: str, params: JsonObject, *, path: str | None, seconds: float) -> Reply:
        if method == "workspace/symbol":
            engine.skip_warm_up()
        work = self._work(engine, method, params, path)
        answered = await engine.run(work, seconds=seconds)
        completeness, note = judge(engine.spec, engine.note, method, answered)
        return Reply(value=answered.value, engine=engine.identity, completeness=completeness, note=note)

    def _work(self, engine: Supervised, method: str, params: JsonObject, path: str | None) -> Work:
        async def ask(session: Session, patience: float) -> Answered:
            if method == "workspace/diagnostic":
                paths = self._needed.paths((engine.place.root, engine.place.language))
                return await ask_diagnostics(session, paths, patience)
            if method == "textDocument/diagnostic" and path is not None:
                answered = await session.diagnose(path)
                return Answered({"kind": "full", "items": answered.value}, answered.ready)
            return await session.ask(method, params, path=path, patience=patience)

        return ask

    async def _ask_workspace(self, key: Key, method: str, params: JsonObject, seconds: float) -> Reply | None:
        engine = await self._maybe_engine(key, seconds)
        if engine is not None:
            return await self._ask(engine, method, params, path=None, seconds=seconds)
        if method != "workspace/symbol":
            return None
        query = str(params.get("query", ""))
        return await fallback.ask_workspace(self._kept, self._needed.paths(key), query, self._missing_note(key[1]))

    def _empty_reply(self, key: Key, method: str, reply: Reply | BaseException | None) -> Reply:
        """What stands for an engine that did not answer."""
        late = isinstance(reply, EngineTimeout)
        engine = self._engines.get(key)
        identity = engine.identity if engine is not None else EngineIdentity(name="", version="", language=key[1])
        value: JsonValue = [] if method == "workspace/symbol" else {"items": []}
        return Reply(
            value=value,
            engine=identity,
            completeness=Completeness.WARMING if late else Completeness.PARTIAL,
            note=f"{identity.name} did not answer in time" if late else f"{identity.name} failed",
        )

    async def _maybe_engine(self, key: Key, seconds: float) -> Supervised | None:
        """The engine of a root and language; None if none is installed. Raises EngineTimeout."""
        if key in self._engines:
            return self._engines[key]
        spec = self._maybe_spec(key[1])
        installed = await self._maybe_installed(spec, seconds) if spec is not None else None
        if installed is None or key in self._engines:
            return self._engines.get(key)
        place = Place(root=key[0], language=key[1], limits=self._choice.limits, variables=passed_on(self._choice.variables))
        self._engines[key] = Supervised(installed, self._files, place, self._count_diagnostics)
        return self._engines[key]

    async def _maybe_installed(self, spec: EngineSpec, seconds: float) -> Installed | None:
        now = asyncio.get_running_loop().time()
        if now < self._missing_until.get(spec.name, 0.0):
            return None
        if spec.name not in self._finding:
            self._finding[spec.name] = asyncio.create_task(self._programs.find(spec))
        task = self._finding[spec.name]
        await asyncio.wait([task], timeout=seconds)
        if not task.done():
            raise EngineTimeout(spec.name, seconds)
        if task.result() is None:
            self._finding.pop(spec.name, None)
            self._missing_until[spec.name] = now + MISSING_SECONDS
        return task.result()

    def _maybe_spec(self, language: str) -> EngineSpec | None:
        return self._choice.engines.get(self._choice.languages.get(language, ""))

    def _missing_note(self, language: str) -> str:
        spec = self._maybe_spec(language)
        if spec is None:
            return f"there is no engine for {language}: symbols are from the syntax alone"
        return f"{spec.name} is not installed: symbols are from the syntax alone. To install it: {spec.install}"

    async def _state(self, key: Key) -> EngineState:
        engine = await self._maybe_engine(key, self._choice.limits.start_seconds)
        if engine is not None:
            return engine.state
        spec = self._maybe_spec(key[1])
        identity = EngineIdentity(name=spec.name if spec is not None else "", version="", language=key[1])
        install = spec.install if spec is not None else ""
        return EngineState(identity=identity, root=key[0], status=EngineStatus.MISSING, install=install)

    def _count_diagnostics(self) -> None:
        self._diagnostics += 1


def _check_readable(path: Path) -> None:
    """Raises OSError: not there, or too large to be source."""
    if path.stat().st_size > MAX_TEXT:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
