"""The real engines that tests run, and how they are asked for references with the check on top."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.packs.code.engines.bench import PATIENCE

from strictwire.packs.code.engine import Checked, CodeBase, Reply, Span
from strictwire.packs.code.open import open_codebase, read_options
from strictwire.packs.code.targets import read_targets

REPOSITORY = Path(__file__).parents[4]
SOURCES = REPOSITORY / ".venv-engines" / "sources" / "django-5.2.19"
"""Django, unpacked by `scripts/engines`."""

VARIABLES = {
    "HOME": os.environ.get("HOME", "/"),
    "PATH": os.pathsep.join(
        [
            str(Path(sys.executable).parent),
            str(REPOSITORY / ".venv-engines" / "bin"),
            str(REPOSITORY / "tests" / "interop" / "node" / "node_modules" / ".bin"),
            os.environ["PATH"],
        ]
    ),
}
"""Where `scripts/setup`, `scripts/engines` and `scripts/npm` put engines."""

PYTHON_ENGINES = ("ty", "basedpyright", "pyrefly", "jedi-language-server")


@asynccontextmanager
async def opened(root: Path, *, python: str = "ty", warm: bool = False) -> AsyncIterator[CodeBase]:
    """A code base with real engines."""
    options = read_options({"roots": [str(root)], "languages": {"python": python}, "warm": warm}, VARIABLES)
    async with open_codebase(options) as code:
        yield code


def place_of(path: Path, text: str, name: str) -> Span:
    """Where a name stands in the first line that contains a text."""
    for number, line in enumerate(path.read_text().split("\n")):
        if text in line:
            character = line.index(name, line.index(text))
            return Span(path=path, line=number, character=character, end=character + len(name))
    raise LookupError(f"{text!r} is not in {path}")


async def references(code: CodeBase, name: str, at: Span, seconds: float = PATIENCE) -> tuple[Reply, set[Span], Checked]:
    """The reply of the engine, the references in it, and what the check says."""
    params = {"position": {"line": at.line, "character": at.character}, "context": {"includeDeclaration": True}}
    reply = await code.engines.ask(at.path, "textDocument/references", params, seconds=seconds)
    found = tuple(read_targets(reply.value))
    return reply, set(found), await code.references.check(name, at, found, reply, seconds=seconds)


def spots(root: Path, spans: set[Span]) -> set[tuple[str, int]]:
    """Relative path and line."""
    return {(str(span.path.relative_to(root)), span.line) for span in spans}
