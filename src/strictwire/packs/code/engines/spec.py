"""What is known about an engine before it runs: one record each. Pure. The built-in ones are in `table`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from strictwire.canon.json import JsonValue


class Hint(StrEnum):
    """Where an engine shows how far it is."""

    LOG = "log"
    """A message of `window/logMessage`."""
    STDERR = "stderr"
    """A line on its stderr."""
    DIAGNOSTICS = "diagnostics"
    """`textDocument/publishDiagnostics` for a document that is open."""
    PROGRESS = "progress"
    """The end of a `$/progress` with this title; while one runs the engine is not ready."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """One step towards readiness: a hint whose text matches."""

    hint: Hint
    pattern: str = ""
    """A regular expression that the text must contain a match of; empty for any text."""


class Rereads(StrEnum):
    """How an engine learns of a file that changed on disk and is not open."""

    NOTIFIED = "notified"
    """By `workspace/didChangeWatchedFiles`."""
    OPENED = "opened"
    """Only if the file is opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSpec:
    """One engine."""

    name: str
    languages: tuple[str, ...]
    command: tuple[str, ...]
    """The program, looked up on PATH and beside the interpreter, and its arguments."""
    install: str = ""
    """The command that installs it."""
    natives: tuple[str, ...] = ()
    """Glob patterns from the program's folder to the binary that it only starts; the binary is then run itself."""
    version: tuple[str, ...] = ()
    """The command that prints the version; by default the program with `--version`."""
    min_major: int = 0
    """The oldest major version that works."""
    opens: bool = True
    """Whether a document must be open to be asked about. An engine that reads closed files is kept in sync with less."""
    rereads: Rereads = Rereads.NOTIFIED
    ready: tuple[Sign, ...] = ()
    """Seen in this order, the engine is ready; without any it is ready at once."""
    known_ready: bool = True
    """Whether `ready` is known to mean that everything is indexed. If not, no answer is called complete."""
    relists: bool = False
    """Whether a new or deleted file makes the engine list its files again, so that the signs have to be seen again."""
    index_needs: tuple[str, ...] = ()
    """Files of which the root must have one, or only open documents are indexed."""
    projects: tuple[str, ...] = ()
    """Names of project files: one document beside each is opened at the start, so that the project is loaded."""
    symbol_limit: int = 0
    """The most symbols that one search returns; 0 if there is no limit."""
    symbols_complete: bool = True
    """Whether a symbol search looks everywhere."""
    warm_up: str = ""
    """A symbol that is searched for at the start, so that the engine reads every file before it is asked; none if empty."""
    initialization: Mapping[str, JsonValue] = field(default_factory=dict)
    """`initializationOptions`."""
    settings: Mapping[str, JsonValue] = field(default_factory=dict)
    """Section to the answer when the engine asks for `workspace/configuration`."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Environment variables besides those that every engine gets."""
