"""The seam between the code tools and what answers them: engines, the word index, the reference check, text search.

Pure values and Protocols. `open.py` builds the real ones, `memory.py` holds in-memory twins for tests.
All paths are absolute and resolved, and lie below a root. Positions are zero-based and count UTF-16 code units, as in LSP.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, Protocol

from strictwire.canon.json import JsonObject, JsonValue

TREE_SITTER: Final = "tree-sitter"
"""The engine name of answers that come from syntax alone: symbols and outlines, no references."""


class Completeness(StrEnum):
    """Whether an answer holds everything there is."""

    COMPLETE = "complete"
    WARMING = "warming"
    """The engine is still indexing: the same call may return more later."""
    PARTIAL = "partial"
    """The engine is done, and something is missing or could not be confirmed."""


class EngineStatus(StrEnum):
    """What an engine is doing."""

    MISSING = "missing"
    """Not installed; `EngineState.install` says how to."""
    STOPPED = "stopped"
    """Installed and not running: the first call that needs it starts it."""
    STARTING = "starting"
    WARMING = "warming"
    READY = "ready"
    FAILED = "failed"
    """It crashed, hung or used too much memory; it is started again after a delay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineIdentity:
    """Who answers. Belongs into every answer and every snapshot key: reference sets differ between engines."""

    name: str
    version: str
    language: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineState:
    """One engine of one root, as `strictwire code engines` lists it."""

    identity: EngineIdentity
    root: Path
    status: EngineStatus
    install: str = ""
    """The command that installs the engine."""
    pid: int | None = None
    """The process that holds the engine; everything the engine consists of is below it."""
    restarts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The answer of an engine: raw LSP JSON, not yet normalised, sorted or filtered by roots."""

    value: JsonValue
    engine: EngineIdentity
    completeness: Completeness
    """What the engine's own readiness check says. References need the `ReferenceCheck` on top."""
    note: str = ""
    """Why it is not complete, for people: "no compile_commands.json: only open files are indexed"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Epochs:
    """Counters that change whenever an answer may. Reading them is cheap and sees every change made before the call."""

    roots: int = 0
    text: int = 0
    """A file's content changed."""
    fs: int = 0
    """A file or folder was created, deleted or renamed."""
    diagnostics: int = 0
    """An engine may report other diagnostics: any of the above, or an engine said so."""


class EngineMissing(Exception):
    """No engine for this file. `install` is the command that installs one; empty if none is known for the language."""

    def __init__(self, language: str, install: str = "") -> None:
        super().__init__(language, install)
        self.language = language
        self.install = install


class EngineFailed(Exception):
    """The engine crashed, refused the request, or answered what is not LSP. `reason` is one of ours, never its text."""

    def __init__(self, engine: str, reason: str) -> None:
        super().__init__(engine, reason)
        self.engine = engine
        self.reason = reason


class EngineUnsupported(EngineFailed):
    """The engine does not offer the method, by its own capabilities. Nothing was sent."""


class EngineTimeout(Exception):
    """The answer did not arrive in time, and the request was cancelled. A caller that wants a late result waits longer."""

    def __init__(self, engine: str, seconds: float) -> None:
        super().__init__(engine, seconds)
        self.engine = engine
        self.seconds = seconds


class Engines(Protocol):
    """Every engine of every root: started on demand, kept in sync with the disk, restarted after a failure."""

    async def ask(self, path: Path, method: str, params: JsonObject, *, seconds: float) -> Reply:
        """Ask the engine of a document, which sees the document's present content.

        `params` goes without `textDocument`, which is added for `textDocument/*` methods. Two methods work for every
        engine, whatever it offers: `textDocument/diagnostic` always gives `{"kind": "full", "items": [...]}`, and
        `textDocument/documentSymbol` falls back to tree-sitter.
        Raises EngineMissing, EngineFailed, EngineUnsupported, EngineTimeout; FileNotFoundError or another OSError if
        the document cannot be read.
        """

    async def ask_all(self, method: str, params: JsonObject, *, seconds: float) -> tuple[Reply, ...]:
        """Ask each engine that the files of the roots need, `workspace/symbol` or `workspace/diagnostic`, in parallel.

        Replies are ordered by root and language. A language without an engine is answered by tree-sitter
        (`workspace/symbol`) or left out; an engine that fails, or is late, gives a Reply with an empty value, PARTIAL or
        WARMING, and a note. `workspace/diagnostic` always gives `{"items": [{"uri", "kind": "full", "items"}]}`.
        Raises EngineTimeout if none answered in time, EngineFailed if all failed.
        """

    def epochs(self) -> Epochs:
        """The present counters. Drains the file watch first, so a change made before this call is counted."""

    async def states(self) -> tuple[EngineState, ...]:
        """Every engine the roots need, ordered by root and language."""


class MentionKind(StrEnum):
    """Where in the syntax a word stands."""

    CODE = "code"
    STRING = "string"
    """In a string literal that could name something: `getattr(x, "name")`, `"package.module.name"`."""
    TEXT = "text"
    """In a comment, a docstring or prose. Never counts as a missing reference."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Mention:
    """A whole-word occurrence of a name."""

    path: Path
    line: int
    character: int
    end: int
    """The character after its last, on the same line."""
    kind: MentionKind = MentionKind.CODE
    preview: str = ""
    """The line, without the space around it, cut at 200 characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentions:
    """Occurrences in the order of path, line, character."""

    items: tuple[Mention, ...]
    capped: bool = False
    """There are more than the limit."""
    gaps: int = 0
    """Files that were not searched, or not as a whole. More than 0 is never complete. Text search alone counts them."""


class WordIndex(Protocol):
    """Every word of every text file of the roots. Ignore files are honoured; changes on disk are seen by the next call."""

    async def mentions(self, word: str, *, language: str | None = None, limit: int = 20_000) -> Mentions:
        """Where a word occurs, in files of one language or of any."""

    async def files(self) -> tuple[Path, ...]:
        """Every indexed file, sorted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A place in a file, on one line: what a reference covers."""

    path: Path
    line: int
    character: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What the word index says about a set of references."""

    completeness: Completeness
    unconfirmed: tuple[Mention, ...]
    """Mentions of the name that the engine neither returned nor resolved to something else, sorted."""
    capped: bool = False
    """There are more mentions than are looked at; the answer is then PARTIAL at best."""


class ReferenceCheck(Protocol):
    """Compares references with the word index, so that a missing one is noticed."""

    async def check(self, name: str, at: Span, found: tuple[Span, ...], reply: Reply, *, seconds: float) -> Checked:
        """Judge `found`, the references of the symbol at `at` including its declaration, as the engine gave them.

        COMPLETE needs an engine that is ready and every mention of the name in its language confirmed or resolved to
        another symbol. Raises EngineTimeout.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class TextQuery:
    """A search of the text of the roots."""

    pattern: str
    regex: bool = False
    ignore_case: bool = False
    whole_word: bool = False
    globs: tuple[str, ...] = ()
    """gitignore patterns of files to search; empty for all."""
    limit: int = 20_000


class PatternRefused(ValueError):
    """A pattern that cannot be compiled. `reason` is fit to be shown to the caller, `argument` is `query` or `glob`."""

    def __init__(self, reason: str, *, argument: str = "query") -> None:
        super().__init__(reason)
        self.reason = reason
        self.argument = argument


class TextSearch(Protocol):
    """Text and regular expressions in time linear in the size of the roots."""

    async def search(self, query: TextQuery, *, seconds: float) -> Mentions:
        """Every match, one Mention each; a match never spans lines. Raises PatternRefused, EngineTimeout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSymbols:
    """The symbols of one file, by syntax alone."""

    path: Path
    engine: EngineIdentity
    symbols: JsonValue
    """LSP's `DocumentSymbol[]`, as the fallback of `textDocument/documentSymbol` gives it."""


class Outlines(Protocol):
    """What files define and how widely names are used, for maps of a project. Kept from call to call, file by file."""

    async def symbols(self, paths: Sequence[Path]) -> tuple[FileSymbols, ...]:
        """The symbols of these files, in their order; files without a grammar, unreadable or too large are left out."""

    async def counts(self, words: Collection[str], *, language: str) -> Mapping[str, int]:
        """How many files of a language mention each word: prose and translations say nothing about code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeBase:
    """Everything the tools need to answer about some roots."""

    roots: tuple[Path, ...]
    engines: Engines
    words: WordIndex
    references: ReferenceCheck
    text: TextSearch
    outlines: Outlines
    holds: Callable[[str], bool] = lambda _path: False
    """Whether a path is an indexed file: below a root, with no link on the way. Says nothing about other paths."""
