"""Explains a failure code in every dialect, and what to do about it. `strictwire explain` prints it."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from strictwire.fault.catalogue import CATALOGUE, RENDERINGS, CatalogueEntry
from strictwire.fault.dialects.index import DIALECTS, HTTP
from strictwire.fault.invariants import INVARIANTS
from strictwire.fault.spellings import NATIVE, Spelling, spell


class UnknownCode(LookupError):
    """No dialect has this code. `nearest` are similar codes, the best match first."""

    def __init__(self, given: str, nearest: tuple[str, ...]) -> None:
        super().__init__(given, nearest)
        self.given = given
        self.nearest = nearest

    def __str__(self) -> str:
        hint = f"; did you mean {' or '.join(self.nearest)}?" if self.nearest else ""
        return f"no dialect has the code {self.given[:100]!r}{hint}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """One catalogue code, and its spelling in every dialect."""

    entry: CatalogueEntry
    spellings: tuple[tuple[str, Spelling], ...]
    """Each dialect and its spelling."""
    http_status: int
    exit_code: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The meanings of a code or number."""

    given: str
    meanings: tuple[tuple[tuple[str, ...], Meaning], ...]
    """Each meaning, with the dialects that use the spelling for it. `catalogue` is strictwire's own code."""
    also: tuple[tuple[str, tuple[str, ...]], ...]
    """Per dialect, other catalogue codes with the same spelling."""


def explain(given: str) -> Explanation:
    """Explain a code or number as any dialect spells it. Raises UnknownCode."""
    senses = _senses(given.strip())
    if not senses:
        raise UnknownCode(given, _nearest(given))
    meanings = tuple((tuple(dialects), _meaning(code)) for code, dialects in senses.items())
    return Explanation(given=given.strip(), meanings=meanings, also=_also(given.strip(), senses))


def _senses(given: str) -> dict[str, list[str]]:
    """Catalogue codes that the spelling stands for, each with the dialects that use it so; the catalogue first."""
    wanted = given.casefold()
    found: dict[str, list[str]] = {code: ["catalogue"] for code in CATALOGUE if code.casefold() == wanted}
    for dialect, words in NATIVE.items():
        if dialect == HTTP:
            continue
        for word, code in words.items():
            if str(word).casefold() == wanted:
                found.setdefault(code, []).append(dialect)
    return found


def _meaning(code: str) -> Meaning:
    row = RENDERINGS[code]
    return Meaning(
        entry=CATALOGUE[code],
        spellings=tuple((dialect, spell(code, dialect)) for dialect in DIALECTS if dialect != HTTP),
        http_status=row.http,
        exit_code=row.exit,
    )


def _also(given: str, senses: dict[str, list[str]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    wanted = given.casefold()
    listed = (
        (
            dialect,
            tuple(code for code in CATALOGUE if str(spell(code, dialect)).casefold() == wanted and code not in senses),
        )
        for dialect in DIALECTS
        if dialect != HTTP
    )
    return tuple((dialect, codes) for dialect, codes in listed if codes)


def _nearest(given: str) -> tuple[str, ...]:
    words = {code.casefold(): code for code in CATALOGUE}
    for spellings in NATIVE.values():
        words |= {str(word).casefold(): str(word) for word in spellings if str(word).casefold() not in words}
    return tuple(words[close] for close in get_close_matches(given.strip().casefold()[:100], words, n=3))


def render_explanation(explanation: Explanation) -> str:
    """Lines for a terminal, without a final newline."""
    parts = [_render_meaning(dialects, meaning) for dialects, meaning in explanation.meanings]
    if explanation.also:
        parts.append("\n".join(_render_also(explanation)))
    return "\n\n".join(parts)


def _render_meaning(dialects: tuple[str, ...], meaning: Meaning) -> str:
    entry = meaning.entry
    spelled = [f"    {dialect:<13} {spelling}" for dialect, spelling in meaning.spellings]
    lines = [
        f"{entry.code} ({', '.join(dialects)})",
        f"  {entry.meaning}",
        f"  message:    {entry.text}",
        f"  action:     {entry.action}",
        f"  caused by:  {entry.blame}, at stage {entry.stage}",
        f"  retryable:  {'yes, the same call may succeed later' if entry.retryable else 'no, change the call first'}",
        "  spelled:",
        *spelled,
        f"    {'http status':<13} {meaning.http_status}",
        f"    {'exit code':<13} {meaning.exit_code}",
    ]
    invariants = [f"    {name}: {truth}" for name, truth in INVARIANTS.items()]
    return "\n".join(lines + (["  invariants:", *invariants] if entry.code == "INVARIANT_VIOLATION" else []))


def _render_also(explanation: Explanation) -> list[str]:
    return [f"{dialect} also uses {explanation.given} for: {', '.join(codes)}" for dialect, codes in explanation.also]
