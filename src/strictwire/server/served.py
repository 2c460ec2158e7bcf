"""The interface of a server that can be run. `author.Server` implements it; the composition root depends only on this."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from strictwire.contract.handler import Handler
from strictwire.contract.tool import ToolContract
from strictwire.packs.pack import EditorFacts
from strictwire.pipeline.catalog import Catalog
from strictwire.profiles.mcp.identity import Identity


class Served(Protocol):
    """A server that can be run."""

    @property
    def identity(self) -> Identity:
        """Its name, version and instructions."""

    @property
    def catalog(self) -> Catalog:
        """Its tools, resources and prompts."""

    @property
    def editor(self) -> Callable[[], EditorFacts] | None:
        """Where `server/info` of `editor/0.1` gets its facts from, if a pack knows."""

    def describe_editor(self, facts: Callable[[], EditorFacts]) -> None:
        """Set where `editor` gets its facts from."""

    def add_instructions(self, text: str) -> None:
        """Add to the instructions for clients."""

    def add_tool(self, contract: ToolContract, handler: Handler) -> None:
        """Add a tool. Raises ContractRefused or SchemaRefused."""

    def open(self, executor: Executor) -> AbstractAsyncContextManager[Catalog]:
        """Start what the server needs while it runs, and close it at the end. Yields the catalog that calls are served from.

        Raises LifespanFailed.
        """
