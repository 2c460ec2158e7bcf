"""The code tools behind the whole pipeline, in memory: a root on disk, an engine that answers from a table."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from strictwire import MemoryClient, Server
from strictwire.packs.code.answers.ranges import Range
from strictwire.packs.code.catalogue import handlers_of
from strictwire.packs.code.engine import CodeBase
from strictwire.packs.code.limits import ToolSettings
from strictwire.packs.code.memory import MemoryEngines, Script, memory_codebase
from strictwire.packs.code.service import Service
from strictwire.packs.code.uri import render_file_uri
from strictwire.sources.shipped import SHIPPED_SCHEMAS, load_contract
from strictwire.transport.memory import CallFailed, MemoryConnection

T = TypeVar("T")
PATIENCE = 60.0

A = "def used():\n    return 1\n\n\nvalue = used()\n"
B = "from a import used\n\nprint(used())\n"
TEXTS = {"a.py": A, "b.py": B}
"""Two files: `used` stands at a.py 0:4, a.py 4:8, b.py 0:14 and b.py 2:6."""


def write(root: Path, texts: Mapping[str, str]) -> dict[Path, str]:
    """Put files into a root."""
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return {root / name: text for name, text in texts.items()}


def place(*numbers: int) -> dict[str, Any]:
    """A range as LSP writes it: four numbers, or a line and two characters."""
    line, start, *rest = numbers
    end_line, end = rest if len(rest) == 2 else (line, rest[0])
    return Range(line, start, end_line, end).as_json()


def at(path: Path, *numbers: int) -> dict[str, Any]:
    """A location."""
    return {"uri": render_file_uri(path), "range": place(*numbers)}


class Clock:
    """Seconds that pass when a test sets them."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Desk:
    """One opened pack and a client for it."""

    root: Path
    client: MemoryConnection
    code: CodeBase
    service: Service
    clock: Clock

    @property
    def engines(self) -> MemoryEngines:
        assert isinstance(self.code.engines, MemoryEngines)
        return self.code.engines

    def uri(self, name: str) -> str:
        return render_file_uri(self.root / name)

    def at(self, name: str, line: int, character: int) -> dict[str, Any]:
        """Arguments: a document and a position in it."""
        return {"uri": self.uri(name), "position": {"line": line, "character": character}}

    async def result(self, operation: str, **arguments: Any) -> dict[str, Any]:
        """The whole result."""
        return await self.client.call_tool(self.service.prefix + operation, arguments)

    async def call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        """The structured content."""
        content: dict[str, Any] = (await self.result(operation, **arguments))["structuredContent"]
        return content

    async def text(self, operation: str, **arguments: Any) -> str:
        """The one text item."""
        (item,) = (await self.result(operation, **arguments))["content"]
        return str(item["text"])

    async def error(self, operation: str, **arguments: Any) -> tuple[int, str, dict[str, Any]]:
        """Number, message and data of the error."""
        try:
            answer = await self.result(operation, **arguments)
        except CallFailed as exc:
            return exc.error["code"], exc.error["message"], exc.error["data"]
        raise AssertionError(f"expected an error, got {answer}")

    async def code_of(self, operation: str, **arguments: Any) -> str:
        """`data.code` of the error."""
        return str((await self.error(operation, **arguments))[2]["code"])


def run_desk(
    root: Path,
    script: Script,
    story: Callable[[Desk], Awaitable[T]],
    *,
    texts: Mapping[str, str] = TEXTS,
    settings: ToolSettings | None = None,
    engines: MemoryEngines | None = None,
    roots: tuple[Path, ...] | None = None,
) -> T:
    """Open a desk over a root with these files, tell a story, close it."""

    async def main() -> T:
        code = memory_codebase(script, write(root, texts), *((root,) if roots is None else roots))
        code = code if engines is None else replace(code, engines=engines)
        clock = Clock()
        service = Service(code, settings or ToolSettings(), clock=clock)
        server = Server("code", version="1")
        for name, handler in handlers_of(service).items():
            server.add_tool(load_contract(SHIPPED_SCHEMAS, name), handler)
        async with asyncio.timeout(PATIENCE), MemoryClient(server) as client:
            try:
                return await story(Desk(root, client, code, service, clock))
            finally:
                await service.close()

    return asyncio.run(main())
