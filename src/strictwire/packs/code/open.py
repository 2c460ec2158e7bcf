"""Builds everything behind the code tools for some roots, and takes it down again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from strictwire.packs.code.check import WordCheck
from strictwire.packs.code.engine import CodeBase
from strictwire.packs.code.engines.registry import LanguageEngines
from strictwire.packs.code.files import Files
from strictwire.packs.code.options import CodeOptions, read_options
from strictwire.packs.code.outlines import SyntaxOutlines
from strictwire.packs.code.search import Search
from strictwire.packs.code.syntax.kept import KeptSymbols
from strictwire.packs.code.words import Words
from strictwire.packs.kit.watch import Watch

__all__ = ["CodeOptions", "open_codebase", "read_options"]


LAUNCH_SECONDS: Final = 0.05
"""For the processes of engines to be started before the rest of the server is."""


@asynccontextmanager
async def open_codebase(options: CodeOptions) -> AsyncIterator[CodeBase]:
    """Everything the tools need, for as long as the context lasts. Engines end with it, and so does all they started."""
    watch = Watch()
    files = Files(options.roots, watch)
    kept = KeptSymbols(files)
    engines = LanguageEngines(files, options.choice, kept)
    finding = asyncio.create_task(engines.find()) if options.warm else None
    await asyncio.to_thread(files.refresh)
    words = Words(files)
    loop, descriptor = asyncio.get_running_loop(), watch.fileno()
    if descriptor is not None:
        loop.add_reader(descriptor, files.refresh)  # so that the kernel's queue does not fill up between calls
    warming = asyncio.create_task(_warm_up(engines, words, finding)) if finding is not None else None
    if warming is not None:
        # What follows keeps the event loop of a server busy for a while, and engines can start meanwhile.
        await asyncio.wait([warming], timeout=LAUNCH_SECONDS)
    try:
        yield CodeBase(
            roots=options.roots,
            engines=engines,
            words=words,
            references=WordCheck(engines, words),
            text=Search(files),
            outlines=SyntaxOutlines(kept, words),
            holds=files.holds,
        )
    finally:
        if descriptor is not None:
            loop.remove_reader(descriptor)
        if warming is not None:
            warming.cancel()
            with suppress(asyncio.CancelledError):
                await warming
        await engines.close()
        watch.close()


async def _warm_up(engines: LanguageEngines, words: Words, finding: asyncio.Task[None]) -> None:
    """Engines first: a call waits for its engine sooner than for the word index, which takes a processor as well."""
    await asyncio.wait([finding])
    await engines.start()
    await words.update(engines.is_busy)
