"""What a tool is given and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from strictwire.canon.json import JsonObject, render
from strictwire.contract.handler import Answer
from strictwire.packs.unity.recent import Recent
from strictwire.packs.unity.session import Session, Snapshot

MAX_REPLIES: Final = 16 * 1024 * 1024
"""Bytes of all replies that are kept, as JSON; in memory they take twenty times as much, as made and as sent."""

_FIRST_STEP: Final = 0.8
"""Share of the time that reading may take in a tool that reads first and judges then."""

MAX_TEXT: Final = 16_000
"""Characters of the text for a model; the structured answer has everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The answer of a tool."""

    output: JsonObject
    """What the output schema describes."""
    text: str
    """The same in short, for clients that show text alone."""
    notes: tuple[str, ...] = ()
    """Diagnostics: what is incomplete or estimated. They never signal an error."""
    is_final: bool = True
    """False if time ended the work: the same call may find more."""


class Guard:
    """The time a tool allows itself. `clock` gives seconds that only go forward."""

    def __init__(self, clock: Callable[[], float], seconds: float) -> None:
        self._clock = clock
        self._start = clock()
        self._seconds = seconds

    def is_late(self) -> bool:
        """Whether the time is up."""
        return self._clock() - self._start >= self._seconds

    def is_nearly_late(self) -> bool:
        """Whether a first step should end, so that what it found can still be used."""
        return self._clock() - self._start >= self._seconds * _FIRST_STEP

    @property
    def elapsed_ms(self) -> int:
        """Milliseconds since the start."""
        return round((self._clock() - self._start) * 1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call of a tool."""

    arguments: JsonObject
    session: Session
    snapshot: Snapshot
    guard: Guard
    tier: str
    """Of the caller."""


Tool: TypeAlias = Callable[[Request], Reply]


def shorten(lines: list[str], more: str) -> str:
    """Lines as text within MAX_TEXT; `more` says what to do about the rest, with its number in place of `{}`."""
    kept: list[str] = []
    size = 0
    for number, line in enumerate(map(_printable, lines)):
        size += len(line) + 1
        if size > MAX_TEXT:
            return "\n".join([*kept, more.format(len(lines) - number)])
        kept.append(line)
    return "\n".join(kept)


def _printable(line: str) -> str:
    """A line in which a name cannot pass for another line or hide anything."""
    if line.isprintable():
        return line
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in line)


class KnownReply(NamedTuple):
    """A reply as it is sent."""

    answer: Answer
    notes: tuple[str, ...]


class Replies:
    """The replies to earlier calls, for as long as the project stays as it is. Any thread may call."""

    def __init__(self) -> None:
        self._known: tuple[Snapshot | None, _Kept] = (None, _fresh())

    def of(self, snapshot: Snapshot) -> _Kept:
        """Replies by tool and arguments in one state of the project; those of the state before are dropped."""
        known, replies = self._known
        if known is not snapshot:
            replies = _fresh()
            self._known = (snapshot, replies)
        return replies


_Kept: TypeAlias = Recent[tuple[str, bytes], KnownReply]


def _fresh() -> _Kept:
    return Recent(MAX_REPLIES, lambda reply: len(render(reply.answer.structured)))
