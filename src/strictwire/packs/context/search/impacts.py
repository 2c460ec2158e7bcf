"""How much a passage is about each of its terms: BM25F over title, headings and body. Pure.

The frequency of a term in a field is normalised by the length of the field, weighted, and summed over the fields; the sum
is then saturated. Lengths are compared with fixed typical lengths instead of the averages of a collection, because
passages have a bounded size. So an impact depends on the passage alone: an index can be updated document by document,
and the passages of different caches can be compared.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from strictwire.packs.context.search.passages import Passage
from strictwire.packs.context.search.terms import find_words, word_terms

SATURATION: Final = 1.2
"""k1: controls how quickly further occurrences of a term stop adding to the score."""

SCALE: Final = 65_535
"""An impact is stored as a 16-bit integer: the share of the highest possible impact."""

_MAX_KNOWN_WORDS: Final = 1 << 18
"""Most words whose terms are cached."""


MAX_INDEXED: Final = 100_000
"""Characters of a passage that are indexed. Only a passage with a very long line has more: minified code, encoded data."""

_WITH_ROLES: Final = frozenset({"rst", "text", "code"})
_ROLE: Final = re.compile(r":[A-Za-z][\w:+-]{0,80}:(?=`)")
"""The role of a text in reStructuredText and docstrings: `:class:` in front of a name is not a word of the page."""


class Field(NamedTuple):
    """A searchable field: its weight, its length normalisation (b) and its typical number of terms."""

    weight: float
    b: float
    typical: float


_TYPICAL: Final = (8.0, 6.0, 120.0)
CODE: Final = (Field(2.0, 0.5, _TYPICAL[0]), Field(2.0, 0.5, _TYPICAL[1]), Field(1.0, 0.75, _TYPICAL[2]))
PROSE: Final = (Field(1.0, 0.5, _TYPICAL[0]), Field(1.0, 0.5, _TYPICAL[1]), Field(1.0, 0.75, _TYPICAL[2]))
"""Title, headings and body. The path and the names of definitions say what code does, so they weigh more than its body; the
headings of a page repeat what its text says. The lengths of short fields say little, so their b is lower."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageFields:
    """The searchable text of one passage."""

    title: str
    headings: str
    body: str
    kind: str = "markdown"


def passage_fields(title: str, passage: Passage, lines: Sequence[str], kind: str = "markdown") -> PassageFields:
    """Return the searchable text of a passage in a document with this title."""
    body = "\n".join(lines[passage.first : passage.last])[:MAX_INDEXED]
    if kind in _WITH_ROLES:
        body = _ROLE.sub("", body)
    return PassageFields(title=title, headings=" ".join(passage.headings[-3:]), body=body, kind=kind)


def find_impacts(text: PassageFields) -> dict[str, int]:
    """Return the impact of each term of a passage, from 1 to SCALE."""
    weighted: dict[str, float] = {}
    fields = CODE if text.kind == "code" else PROSE
    for field, content in zip(fields, (text.title, text.headings, text.body), strict=True):
        terms = _terms(content)
        share = field.weight / (1 - field.b + field.b * len(terms) / field.typical)
        for term, count in Counter(terms).items():
            weighted[term] = weighted.get(term, 0.0) + count * share
    return {term: max(1, round(SCALE * value / (SATURATION + value))) for term, value in weighted.items()}


def inverse_frequency(passages: int, having: int) -> float:
    """Return the weight of a term by its rarity (IDF): never negative, and close to zero for a term in every passage."""
    return math.log(1 + (passages - having + 0.5) / (having + 0.5))


def _terms(text: str) -> list[str]:
    terms: list[str] = []
    for word in find_words(text):
        terms.extend(_terms_of_word(word))
    return terms


_terms_of_word = lru_cache(_MAX_KNOWN_WORDS)(word_terms)
