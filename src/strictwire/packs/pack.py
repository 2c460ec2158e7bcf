"""What a pack is: a name, the tools it promises, and handlers for as long as it is open.

A pack is found by an entry point of the group `strictwire.packs` that names a function without arguments returning it.
Its contracts are schema files (`tools/<name>.json`, `<name>.output.json`), read and checked before it is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from strictwire.audit.view import TrailView
from strictwire.canon.json import JsonValue
from strictwire.contract.handler import Handler
from strictwire.contract.tool import ToolContract

ENTRY_POINTS: Final = "strictwire.packs"
"""The entry point group."""

LOCAL: Final = "local"
"""Who calls over HTTP where no token is asked for. In the settings of packs it stands for everyone who needs none."""


class PackRefused(Exception):
    """A pack that cannot be served, with the reason and what to do about it."""

    def __init__(self, pack: str, reason: str) -> None:
        super().__init__(pack, reason)
        self.pack = pack
        self.reason = reason

    def __str__(self) -> str:
        return f"pack {self.pack!r} refused: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorFacts:
    """The Unity project that a server serves, for `server/info` of `editor/0.1`."""

    unity_version: str
    platform: str


def _ignore(*_: object) -> None:
    """What a pack says outside a server is heard by no one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What a pack is handed when it opens."""

    settings: Mapping[str, JsonValue] = field(default_factory=dict)
    """The table `[packs.<name>]` of the settings file."""
    state: Path | None = None
    """A folder where the pack may keep files of its own; None if it may not."""
    trail: TrailView | None = None
    """The audit trail, for reading; None where none is kept."""
    local: frozenset[str] = frozenset({LOCAL})
    """Principals that need no token: `local` over HTTP, the user of the operating system over stdio."""
    alone: bool = True
    """Whether this process serves alone; otherwise the next call of a caller may reach another process."""
    contracts: tuple[ToolContract, ...] = ()
    """The contracts of the pack's own tools, from their schema files."""
    offer: Callable[[ToolContract, Handler], None] = _ignore
    """Offers a tool that has no schema files, while the pack opens."""
    describe_editor: Callable[[Callable[[], EditorFacts]], None] = _ignore
    """Says where `server/info` gets its facts from."""


class Pack(Protocol):
    """One pack."""

    @property
    def name(self) -> str:
        """The name by which it is asked for."""

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools it promises, in the order they are listed."""

    @property
    def schemas(self) -> Path | None:
        """The folder that holds `tools/`; None for the folder that ships with strictwire."""

    async def open(self, environment: Environment) -> Mapping[str, Handler]:
        """Get ready; a handler for each promised tool. Raises PackRefused: it cannot work here."""

    async def close(self) -> None:
        """Let go of everything."""
