"""Engines on a root of their own, for tests: scripted ones, and whatever else a choice names."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from tests.packs.code.scripted import ScriptedEngine

from strictwire.packs.code.engines.registry import EngineChoice, LanguageEngines
from strictwire.packs.code.engines.spec import EngineSpec
from strictwire.packs.code.engines.supervised import EngineLimits
from strictwire.packs.code.files import Files
from strictwire.packs.code.syntax.kept import KeptSymbols
from strictwire.packs.kit.watch import Watch

T = TypeVar("T")

PATIENCE = 60.0
"""Seconds that a real process may take on a busy machine."""

LIMITS = EngineLimits(first_delay=0.05, max_delay=0.2)


def spec_of(engine: ScriptedEngine, **changes: Any) -> EngineSpec:
    """A scripted engine for Python, which reads closed files unless told otherwise."""
    known: dict[str, Any] = {"version": ("/bin/echo", "scripted 1.2.3"), "opens": False}
    return EngineSpec(name="scripted", languages=("python",), command=engine.command, **(known | changes))


def choose(spec: EngineSpec, limits: EngineLimits = LIMITS) -> EngineChoice:
    return EngineChoice(
        engines={spec.name: spec},
        languages=dict.fromkeys(spec.languages, spec.name),
        limits=limits,
        variables=dict(os.environ),
    )


@asynccontextmanager
async def opened(root: Path, choice: EngineChoice) -> AsyncIterator[LanguageEngines]:
    watch = Watch()
    files = Files((root,), watch)
    engines = LanguageEngines(files, choice, KeptSymbols(files))
    try:
        yield engines
    finally:
        await engines.close()
        watch.close()


def run(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a scenario; it fails instead of hanging."""

    async def bounded() -> T:
        async with asyncio.timeout(5 * PATIENCE):
            return await work()

    return asyncio.run(bounded())


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that another process does."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.01)
