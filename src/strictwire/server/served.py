"""What can be served: a name and a catalogue. `author.Server` is one; the composition root needs to know no more of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from strictwire.contract.handler import Handler
from strictwire.contract.tool import ToolContract
from strictwire.packs.pack import EditorFacts
from strictwire.pipeline.catalog import Catalog
from strictwire.profiles.mcp.identity import Identity


class Served(Protocol):
    """A server as the composition root sees it."""

    @property
    def identity(self) -> Identity:
        """How it introduces itself."""

    @property
    def catalog(self) -> Catalog:
        """What it offers."""

    @property
    def editor(self) -> Callable[[], EditorFacts] | None:
        """Where `server/info` of `editor/0.1` gets its facts from, if a pack knows."""

    def add_tool(self, contract: ToolContract, handler: Handler) -> None:
        """Offer one more tool. Raises ContractRefused or SchemaRefused."""
