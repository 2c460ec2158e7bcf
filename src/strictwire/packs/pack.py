"""The pack interface: a pack has a name, a list of tools, and handlers for those tools while it is open.

A pack is discovered through an entry point in the group `strictwire.packs`. The entry point names a function that takes
no arguments and returns the pack. The server reads and checks the contracts of a pack, which are schema files
(`tools/<name>.json` and `tools/<name>.output.json`), before it opens the pack.
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
"""Principal of a client that calls over HTTP on a server that requires no token. In the settings of a pack, `local` stands
for every principal in `Environment.local`."""


class PackRefused(Exception):
    """The pack cannot be served. Carries the name of the pack, and the reason with what to do about it."""

    def __init__(self, pack: str, reason: str) -> None:
        super().__init__(pack, reason)
        self.pack = pack
        self.reason = reason

    def __str__(self) -> str:
        return f"cannot serve pack {self.pack!r}: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorFacts:
    """The Unity project that a server serves, for `server/info` of `editor/0.1`."""

    unity_version: str
    platform: str


def _ignore(*_: object) -> None:
    """What a pack says outside a server is heard by no one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What the server passes to a pack when it opens it."""

    settings: Mapping[str, JsonValue] = field(default_factory=dict)
    """The `[packs.<name>]` table of the settings file."""
    state: Path | None = None
    """Folder where the pack may store files; None if it may not store any."""
    trail: TrailView | None = None
    """Read access to the audit trail; None if the server keeps no trail."""
    private: tuple[Path, ...] = ()
    """Keys and logs of the server, files or folders. No tool, and no program that a tool starts, may read them."""
    local: frozenset[str] = frozenset({LOCAL})
    """Principals that need no token: `local` over HTTP, the operating system user over stdio."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """The environment variables of the server, for packs that start programs."""
    alone: bool = True
    """True if this is the only server process. Otherwise the next call of the same client may reach another process."""
    contracts: tuple[ToolContract, ...] = ()
    """The contracts of the pack's own tools, from their schema files."""
    offer: Callable[[ToolContract, Handler], None] = _ignore
    """Offers a tool that has no schema files, while the pack opens."""
    instruct: Callable[[str], None] = _ignore
    """Adds to the instructions that the server gives to every client: which tool to use when."""
    describe_editor: Callable[[Callable[[], EditorFacts]], None] = _ignore
    """Says where `server/info` gets its facts from."""


class Pack(Protocol):
    """A group of tools that is served together.

    A pack that several processes cannot serve together has an attribute `one_process`: why, and what to do.
    """

    @property
    def name(self) -> str:
        """The name used in settings and on the command line."""

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools, in the order in which `tools/list` shows them. Settings may change them in `open`."""

    @property
    def schemas(self) -> Path | None:
        """The folder that contains `tools/`; None for the folder that ships with strictwire."""

    async def open(self, environment: Environment) -> Mapping[str, Handler]:
        """Acquire resources and return one handler per tool. Raises PackRefused if the pack cannot work here."""

    async def close(self) -> None:
        """Release all resources."""
