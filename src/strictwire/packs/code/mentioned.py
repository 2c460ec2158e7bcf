"""What can be told about mentions by reading the files they are in: kind, imports, aliases. No engine is asked."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from strictwire.packs.code.engine import Mention, MentionKind, Span
from strictwire.packs.code.languages import maybe_language
from strictwire.packs.code.lines import locate, normalise, read_source
from strictwire.packs.code.syntax.grammar import maybe_grammar
from strictwire.packs.code.syntax.kinds import MentionKinds
from strictwire.packs.code.words import find_words

MAX_PARSED: Final = 500
"""Files that are parsed to tell code from prose, 1 ms each. In further ones every mention counts as code."""

_RENAMING: Final = frozenset({"python", "typescript", "rust"})
"""Languages that import a name `as` another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A mention, and whether it stands in an import."""

    mention: Mention
    imports: bool = False


def look_at(name: str, mentions: Iterable[Mention]) -> list[Seen]:
    """Each mention with its kind, in the same order. Files that are gone, or have no grammar, are taken as code."""
    by_path: dict[Path, list[Mention]] = defaultdict(list)
    for mention in mentions:
        by_path[mention.path].append(mention)
    seen: list[Seen] = []
    for number, (path, here) in enumerate(by_path.items()):
        seen.extend(_look_into(name, path, here) if number < MAX_PARSED else map(_unseen, here))
    return seen


def _unseen(mention: Mention) -> Seen:
    return Seen(mention=mention)


def _look_into(name: str, path: Path, mentions: list[Mention]) -> list[Seen]:
    grammar = maybe_grammar(str(path))
    try:
        raw = normalise(read_source(str(path))) if grammar is not None else b""
    except OSError:
        grammar = None
    if grammar is None:
        return list(map(_unseen, mentions))
    kinds = MentionKinds(grammar, raw)
    spans = list(find_words(raw, name, maybe_language(path)))
    known = {(at.line, at.character): span for at, span in zip(locate(path, raw, spans), spans, strict=True)}
    seen = []
    for mention in mentions:
        span = known.get((mention.line, mention.character))
        kind = kinds.kind_at(*span) if span is not None else MentionKind.CODE
        imports = span is not None and kinds.is_import(*span)
        seen.append(Seen(mention=replace(mention, kind=kind), imports=imports))
    return seen


def find_aliases(name: str, mentions: Iterable[Mention]) -> list[tuple[Path, str]]:
    """Files that import the name under another, with that other name."""
    pattern = re.compile(rb"(?<!\w)%b\s+as\s+(\w+)" % re.escape(name.encode()))
    found: dict[tuple[Path, str], None] = {}
    for path in dict.fromkeys(mention.path for mention in mentions):
        if maybe_language(path) not in _RENAMING:
            continue
        try:
            raw = read_source(str(path))
        except OSError:
            continue
        found.update({(path, alias.decode("utf-8", "replace")): None for alias in pattern.findall(raw)})
    return [each for each in found if each[1] != name]


def mentions_in(path: Path, word: str) -> list[Mention]:
    """Where a word occurs in one file."""
    try:
        raw = normalise(read_source(str(path)))
    except OSError:
        return []
    return list(locate(path, raw, find_words(raw, word, maybe_language(path))))


def find_named(name: str, places: Iterable[Span]) -> set[Span]:
    """Those of the places where the name stands.

    For an attribute that it cannot resolve, basedpyright returns the definition of the call around it: a target counts
    only if it has the name. Targets may lie outside the roots, in the standard library; nothing of such a file is returned.
    """
    by_path: dict[Path, set[Span]] = defaultdict(set)
    for place in places:
        by_path[place.path].add(place)
    found: set[Span] = set()
    for path, spans in by_path.items():
        starts = {(each.line, each.character) for each in mentions_in(path, name)}
        found |= {span for span in spans if (span.line, span.character) in starts}
    return found
