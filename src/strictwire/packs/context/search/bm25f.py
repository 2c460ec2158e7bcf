"""BM25F ranking over the title, headings and body of passages. The index is built once and queried many times. Pure.

The frequency of a term in a field is normalised by the length of the field, weighted, and summed over the fields; the sum
is then saturated. The weights are textbook values, not fitted to any collection.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from strictwire.packs.context.search.passages import Passage
from strictwire.packs.context.search.terms import find_words, word_terms

SATURATION: Final = 1.2
"""k1: controls how quickly further occurrences of a term stop adding to the score."""

FIELDS: Final = (("title", 2.0, 0.5), ("headings", 2.0, 0.5), ("body", 1.0, 0.75))
"""Name, weight and length normalisation (b) of each field. The lengths of short fields say little, so their b is lower."""

_FIELD_BITS: Final = (8, 8, 16)
"""Bits for the frequency in each field: the three are packed into one 32-bit number."""

_MAX_KNOWN_WORDS: Final = 1 << 20
"""Most words whose terms are cached while an index is built."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageFields:
    """The searchable fields of one passage."""

    title: str
    headings: str
    body: str


@dataclass(slots=True)
class PassageIndex:
    """Postings from terms to passages, which are numbered in the order they were added."""

    postings: defaultdict[str, tuple[array[int], array[int]]] = field(
        default_factory=lambda: defaultdict(lambda: (array("I"), array("I")))
    )
    """Term to passage numbers and, packed into one number for each passage, the frequencies in the three fields."""
    lengths: tuple[array[int], ...] = field(default_factory=lambda: tuple(array("I") for _ in FIELDS))
    _known: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _impacts: dict[str, array[float]] = field(default_factory=dict)
    _averages: tuple[float, ...] = ()

    def __len__(self) -> int:
        return len(self.lengths[0])

    def add(self, text: PassageFields) -> None:
        """Add the next passage."""
        number = len(self)
        packed: Counter[str] = Counter()
        shift = 0
        for name, length, bits in zip((text.title, text.headings, text.body), self.lengths, _FIELD_BITS, strict=True):
            terms = self._terms(name)
            length.append(len(terms))
            most = (1 << bits) - 1
            for term, count in Counter(terms).items():
                packed[term] += min(count, most) << shift
            shift += bits
        for term, counts in packed.items():
            numbers, frequencies = self.postings[term]
            numbers.append(number)
            frequencies.append(counts)

    def finish(self) -> None:
        """Compute the average lengths. Nothing may be added afterwards."""
        self._averages = tuple(sum(length) / max(len(length), 1) or 1.0 for length in self.lengths)
        self._known.clear()

    def documents_with(self, term: str) -> int:
        """Return the number of passages that contain the term."""
        found = self.postings.get(term)
        return len(found[0]) if found else 0

    def score(self, weights: Mapping[str, float]) -> dict[int, float]:
        """Return the score of each passage that contains any of the terms.

        Terms are added in sorted order, so that floating-point sums are the same each time.
        """
        scores: dict[int, float] = {}
        for term in sorted(weights):
            if term in self.postings:
                weight = weights[term]
                for number, impact in zip(self.postings[term][0], self._impact(term), strict=True):
                    scores[number] = scores.get(number, 0.0) + weight * impact
        return scores

    def _terms(self, text: str) -> list[str]:
        known, terms = self._known, list[str]()
        for word in find_words(text):
            found = known.get(word)
            if found is None:
                found = word_terms(word)
                if len(known) < _MAX_KNOWN_WORDS:
                    known[word] = found
            terms.extend(found)
        return terms

    def _impact(self, term: str) -> array[float]:
        """Return the saturated, weighted frequency of a term in each of its passages; computed on first use."""
        found = self._impacts.get(term)
        if found is None:
            numbers, packed = self.postings[term]
            found = array("f", map(self._saturate, numbers, packed))
            self._impacts[term] = found
        return found

    def _saturate(self, number: int, packed: int) -> float:
        frequency = 0.0
        for (_, weight, b), bits, lengths, average in zip(FIELDS, _FIELD_BITS, self.lengths, self._averages, strict=True):
            count = packed & ((1 << bits) - 1)
            packed >>= bits
            if count:
                frequency += weight * count / (1 - b + b * lengths[number] / average)
        return frequency / (SATURATION + frequency)


def inverse_frequency(passages: int, having: int) -> float:
    """Return the weight of a term by its rarity (IDF): never negative, and close to zero for a term in every passage."""
    return math.log(1 + (passages - having + 0.5) / (having + 0.5))


def term_weights(terms: Iterable[str], indexes: Sequence[PassageIndex]) -> dict[str, float]:
    """Return the weight of each query term over several indexes as one collection. A repeated term weighs more."""
    passages = sum(map(len, indexes))
    return {
        term: count * inverse_frequency(passages, sum(index.documents_with(term) for index in indexes))
        for term, count in Counter(terms).items()
    }


def passage_fields(title: str, passage: Passage, lines: Sequence[str]) -> PassageFields:
    """Return the searchable fields of a passage in a document with this title."""
    body = "\n".join(lines[passage.first : passage.last])
    return PassageFields(title=title, headings=" ".join(passage.headings[-3:]), body=body)
