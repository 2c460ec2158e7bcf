"""The result of one tool before it is presented: the members of A.1, who answered, and how complete it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.packs.code.engine import Completeness, EngineIdentity, Reply

_RANK: Final = (Completeness.COMPLETE, Completeness.PARTIAL, Completeness.WARMING)
"""From best to worst. Warming comes last because it asks for something: call again."""

MAX_NOTE: Final = 300
"""Characters of a note."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Who answered, and whether the answer holds everything."""

    engines: tuple[EngineIdentity, ...] = ()
    completeness: Completeness = Completeness.COMPLETE
    note: str = ""
    """Why it is not complete, for people and models."""
    unconfirmed: int | None = None
    """Mentions of the name that no engine confirmed as references; None where there is no such check."""
    outside: int = 0
    """Results that were dropped because they lie outside the roots."""

    def but(self, completeness: Completeness, note: str = "") -> Evidence:
        """The same, at most this complete."""
        notes = [each for each in (self.note, note) if each]
        return replace(self, completeness=worst((self.completeness, completeness)), note="; ".join(notes)[:MAX_NOTE])

    def but_capped(self, *, capped: bool) -> Evidence:
        """The same; partial if something was cut off."""
        return self.but(Completeness.PARTIAL, "the list is cut at its limit") if capped else self

    def as_json(self) -> JsonObject:
        """The members that a `code_*` answer has beside those of A.1."""
        engines = [{"name": each.name, "version": each.version, "language": each.language} for each in self.engines]
        shown: JsonObject = {"engines": engines, "completeness": self.completeness.value}
        if self.unconfirmed is not None:
            shown["unconfirmed"] = self.unconfirmed
        optional = {"note": self.note, "outside": self.outside}
        return shown | {name: value for name, value in optional.items() if value}


def evidence_of(replies: Iterable[Reply], *, outside: int = 0) -> Evidence:
    """The evidence of several replies: as complete as the least complete of them."""
    given = tuple(replies)
    engines = sorted({each.engine for each in given}, key=lambda each: (each.language, each.name, each.version))
    notes = dict.fromkeys(each.note for each in given if each.note)
    return Evidence(
        engines=tuple(engines),
        completeness=worst(each.completeness for each in given),
        note="; ".join(notes)[:MAX_NOTE],
        outside=outside,
    )


def worst(states: Iterable[Completeness]) -> Completeness:
    """The least complete of some states; COMPLETE if there are none."""
    return max(states, key=_RANK.index, default=Completeness.COMPLETE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One answer."""

    members: JsonObject
    """The members of A.1, its summary included."""
    evidence: Evidence
    candidates: tuple[JsonObject, ...] | None = None
    """Workspace symbols that a name may mean, where it did not mean exactly one."""
