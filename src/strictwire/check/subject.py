"""What is judged: tools with the places they came from. Built by `sources`, read by rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.contract.schema import escape_pointer
from strictwire.contract.tool import ToolContract

NO_TEXTS: Final[Mapping[str, bytes]] = MappingProxyType({})


class Side(StrEnum):
    """Which of a tool's two schemas."""

    INPUT = "input"
    OUTPUT = "output"


class Origin(NamedTuple):
    """A place: a file (or the name of a source that has none) and a JSON pointer into it."""

    file: str
    pointer: str = ""

    def under(self, *steps: str | int) -> Origin:
        """The place some members further in."""
        return Origin(self.file, self.pointer + "".join(f"/{escape_pointer(str(step))}" for step in steps))


class Problem(NamedTuple):
    """What a rule yields: a place and a sentence. The engine makes a Finding of it."""

    origin: Origin
    message: str
    tool: str = ""


class Flaw(NamedTuple):
    """Something a source could not read. Reported under the rule named; never silently skipped."""

    rule: str
    origin: Origin
    message: str
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One tool and where its parts stand."""

    contract: ToolContract
    entry: Origin
    """Where the description and the hints stand."""
    input: Origin
    output: Origin
    """Where the output schema stands or would stand."""
    has_terms: bool = False
    """Whether the source knows the terms that are not on the wire: tier, roles, safety, caps, dialect."""

    def schema(self, side: Side) -> JsonObject | None:
        """One of the two schemas."""
        return self.contract.input_schema if side is Side.INPUT else self.contract.output_schema

    def origin(self, side: Side) -> Origin:
        """Where one of the two schemas stands."""
        return self.input if side is Side.INPUT else self.output


class Home(StrEnum):
    """What kind of source the tools came from; some rules are about files and apply to folders alone."""

    FOLDER = "folder"
    LISTING = "listing"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSet:
    """All tools of one source."""

    label: str
    """The source as the user named it."""
    subjects: tuple[Subject, ...]
    home: Home = Home.LISTING
    flaws: tuple[Flaw, ...] = ()
    texts: Mapping[str, bytes] = field(default_factory=lambda: NO_TEXTS)
    """The text of each file, for places."""
    files: tuple[str, ...] = ()
    """Every file of a folder, read or not."""
    documents: Mapping[str, JsonValue] = field(default_factory=lambda: MappingProxyType({}))
    """Parsed files of a folder that are not tools: the targets of cross-file references."""

    def by_name(self) -> Mapping[str, Subject]:
        """The tools by name; the first of two with one name."""
        return {each.contract.name: each for each in reversed(self.subjects)}
