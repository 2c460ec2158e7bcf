"""The code pack as a server opens it, with real engines, driven in memory."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from strictwire import MemoryClient, Server
from strictwire.canon.json import parse_object, render
from strictwire.packs.code.pack import CodePack
from strictwire.packs.code.uri import render_file_uri
from strictwire.packs.pack import Environment
from strictwire.sources.shipped import SHIPPED_SCHEMAS, load_contract
from strictwire.transport.memory import VERSION, CallFailed, MemoryConnection

T = TypeVar("T")
PATIENCE = 180.0
"""Seconds that a story may take on a busy machine."""

NODE_MODULES = Path(__file__).parents[2] / "interop" / "node" / "node_modules" / ".bin"
VARIABLES = {**os.environ, "PATH": f"{NODE_MODULES}:{Path(sys.executable).parent}:{os.environ['PATH']}"}
"""Where engines are found: Python wheels beside the interpreter, TypeScript where `./scripts/npm` puts it."""


@dataclass
class Real:
    """One opened pack."""

    client: MemoryConnection
    prefix: str

    async def bytes(self, operation: str, **arguments: Any) -> bytes:
        """The whole response, as it would go over a wire. The id is always the same."""
        return await self.send(1, operation, arguments)

    async def send(self, request_id: int, operation: str, arguments: dict[str, Any]) -> bytes:
        """The same with another id, for calls at the same time."""
        meta = {"io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {}}
        params = {"name": self.prefix + operation, "arguments": arguments, "_meta": meta}
        raw = await self.client.send(render({"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}))
        assert raw is not None
        return raw

    async def call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        """The structured content."""
        answer = parse_object(await self.bytes(operation, **arguments))
        if "error" in answer:
            raise CallFailed(answer["error"])
        content: dict[str, Any] = answer["result"]["structuredContent"]
        return content

    async def ready(self, operation: str, **arguments: Any) -> dict[str, Any]:
        """The same, asked again for as long as the engine is indexing."""
        while True:
            answer = await self.call(operation, **arguments)
            if answer["completeness"] != "warming":
                return answer
            await asyncio.sleep(0.05)

    async def code_of(self, operation: str, **arguments: Any) -> str:
        """`data.code` of the error."""
        return str(parse_object(await self.bytes(operation, **arguments))["error"]["data"]["code"])


@asynccontextmanager
async def open_real(*roots: Path, **settings: Any) -> AsyncIterator[Real]:
    """Open the pack over some roots."""
    pack = CodePack()
    server = Server("code", version="1")
    table = {"roots": [str(root) for root in roots], **settings}
    try:
        handlers = await pack.open(Environment(settings=table, variables=VARIABLES))
        for name in pack.tools:
            server.add_tool(load_contract(SHIPPED_SCHEMAS, name), handlers[name])
        async with MemoryClient(server) as client:
            yield Real(client, "vscode_lsp_" if settings.get("drop_in") else "code_")
    finally:
        await pack.close()


def run_real(story: Callable[[Real], Awaitable[T]], *roots: Path, **settings: Any) -> T:
    """Open the pack, tell a story, close it."""

    async def main() -> T:
        async with asyncio.timeout(PATIENCE), open_real(*roots, **settings) as real:
            return await story(real)

    return asyncio.run(main())


def write(root: Path, texts: Mapping[str, str]) -> Path:
    """Put files into a root."""
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def places(answer: dict[str, Any], root: Path, member: str = "items") -> list[tuple[str, int, int]]:
    """Locations as file, line and character."""
    start = f"{render_file_uri(root)}/"
    found = [(item["uri"].removeprefix(start), item["range"]["start"]) for item in answer[member]]
    return [(name, place["line"], place["character"]) for name, place in found]
