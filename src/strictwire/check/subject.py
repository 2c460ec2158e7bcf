"""The input of a check: tools and where their parts come from. `sources` builds these values, rules read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.check.finding import Impact
from strictwire.contract.schema import escape_pointer
from strictwire.contract.tool import ToolContract

NO_TEXTS: Final[Mapping[str, bytes]] = MappingProxyType({})


class Side(StrEnum):
    """One of the two schemas of a tool."""

    INPUT = "input"
    OUTPUT = "output"


class SourceLocation(NamedTuple):
    """A location in a source: a file (or the name of a source without files) and a JSON pointer into it."""

    file: str
    pointer: str = ""

    def under(self, *steps: str | int) -> SourceLocation:
        """The location of a member or item below this one."""
        return SourceLocation(self.file, self.pointer + "".join(f"/{escape_pointer(str(step))}" for step in steps))


class Problem(NamedTuple):
    """A violation, as a rule yields it: location and message. The engine turns it into a Finding."""

    origin: SourceLocation
    message: str
    tool: str = ""
    witness: str = ""
    """JSON of a value that shows the problem."""
    old: str = ""
    new: str = ""
    """For changes: the text or the schema before and after."""
    impact: Impact | None = None
    """The tier of a change, if it differs from that of the rule."""


class ReadProblem(NamedTuple):
    """A part of a source that could not be read. Always reported, under the named rule; never skipped silently."""

    rule: str
    origin: SourceLocation
    message: str
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One tool, and where its parts are in the source."""

    contract: ToolContract
    entry: SourceLocation
    """The location of the description and the hints."""
    input: SourceLocation
    output: SourceLocation
    """The location of the output schema, or where it would be."""
    has_terms: bool = False
    """Whether the source has the contract terms that `tools/list` does not show: tier, roles, safety, caps, dialect."""

    def schema(self, side: Side) -> JsonObject | None:
        """One of the two schemas."""
        return self.contract.input_schema if side is Side.INPUT else self.contract.output_schema

    def origin(self, side: Side) -> SourceLocation:
        """The location of one of the two schemas."""
        return self.input if side is Side.INPUT else self.output


class SourceKind(StrEnum):
    """The kind of source that the tools come from. Some rules are about files and apply only to folders."""

    FOLDER = "folder"
    LISTING = "listing"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSet:
    """All tools of one source."""

    label: str
    """The source as the user named it."""
    subjects: tuple[Subject, ...]
    source_kind: SourceKind = SourceKind.LISTING
    read_problems: tuple[ReadProblem, ...] = ()
    texts: Mapping[str, bytes] = field(default_factory=lambda: NO_TEXTS)
    """The content of each file, to compute line and column."""
    files: tuple[str, ...] = ()
    """Every file of a folder, whether it was read or not."""
    documents: Mapping[str, JsonValue] = field(default_factory=lambda: MappingProxyType({}))
    """Parsed files of a folder that are not tools: targets of references from other files."""

    def by_name(self) -> Mapping[str, Subject]:
        """The tools by name. If two tools have the same name, the first one wins."""
        return {each.contract.name: each for each in reversed(self.subjects)}
