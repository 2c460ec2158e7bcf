"""Converts text to search terms: Unicode words, case-folded; identifiers as a whole and in parts; bigrams for scripts
without spaces.

Pure and deterministic. These are not the words of v0 (`context.words`), which are frozen.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

MAX_TERM: Final = 64
"""Longest term, in characters. A longer one is data in the text and not a word to search for."""

MAX_WORD: Final = 256
"""Longest word, in characters; a longer one counts as several. Encoded data has words of megabytes."""

FUNCTION_WORDS: Final = frozenset(
    {
        "a", "about", "again", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because", "been", "being",
        "both", "but", "by", "can", "could", "did", "do", "does", "doing", "don", "during", "either", "else", "ever",
        "for", "from", "had", "has", "have", "having", "he", "her", "here", "hers", "him", "his", "how", "however", "i",
        "if", "in", "into", "is", "it", "its", "itself", "just", "may", "me", "might", "mine", "more", "most", "must",
        "my", "of", "on", "only", "onto", "or", "our", "ours", "please", "shall", "she", "should", "so", "some", "such",
        "t", "than", "that", "the", "their", "theirs", "them", "then", "there", "these", "they", "this", "those", "to",
        "too", "upon", "us", "very", "was", "we", "were", "what", "when", "where", "whether", "which", "while", "who",
        "whom", "whose", "why", "will", "with", "would", "yes", "yet", "you", "your", "yours", "s", "m", "re", "ve",
        "ll", "d",
    }
)  # fmt: skip
"""English words that carry no subject. Words that occur in the names of functions, such as `get` and `not`, are not here."""

_MARKS: Final = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
    "\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b4-\u17d3"
)
"""Combining marks that are part of a word but that `\\w` does not match."""

_BIGRAM: Final = (
    "\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0ec0-\u0ec6\u1000-\u102a\u1780-\u17b3"
    "\u3005\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003134f"
)
"""Scripts without spaces between words: Thai, Lao, Burmese, Khmer, kana, Han; and Hangul, where particles join words."""

_WORD: Final = re.compile(rf"[\w{_MARKS}]{{1,{MAX_WORD}}}")
_RUN: Final = re.compile(rf"[{_BIGRAM}]+|[^{_BIGRAM}]+")
_IS_BIGRAM: Final = re.compile(rf"[{_BIGRAM}]")
_PART: Final = re.compile(r"[A-Z]{2,}(?=s(?![a-z]))|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
"""Parts of an ASCII identifier. The plural of an acronym (`IDs`) keeps its capitals together."""

_EDGE: Final = re.compile(r"(?<=l)(?=u)|(?<=u)(?=ul)|(?<=[lu])(?=d)|(?<=d)(?=[lu])|_+")
"""Split points of an identifier in another alphabet, given as a string of l (lower), u (upper), d (digit) and _."""

_ACCENT: Final = re.compile("[\u0300-\u036f]")
_VOWEL: Final = re.compile("[aeiouy]")
_KEEPS_S: Final = ("ss", "us", "is")


def parse_terms(text: str) -> list[str]:
    """Return the terms of a text in order, including repetitions."""
    return [term for word in find_words(text) for term in word_terms(word)]


def query_words(query: str) -> list[str]:
    """Return the words of a query that say what it is about; all words if there are only function words.

    Indexes keep function words: `this`, `with` and `for` can be the subject of a question about a language.
    """
    words = find_words(query)
    return [word for word in words if word.lower() not in FUNCTION_WORDS] or words


def find_words(text: str) -> list[str]:
    """Return the words of a text in their original spelling."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return _WORD.findall(text)


def word_terms(word: str) -> tuple[str, ...]:
    """Return the terms of one word: the folded word and, for an identifier, its parts.

    `getUserIDs`, `get_user_ids` and `GetUserIds` have the same terms: `getuserid`, `get`, `user`, `id`.
    """
    if word.isascii():
        return tuple(_bounded(_identifier_terms(_PART.findall(word))))
    word = _without_accents(word)
    if not _IS_BIGRAM.search(word):
        return tuple(_bounded(_identifier_terms(_parts(word))))
    terms: list[str] = []
    for run in _RUN.findall(word):
        terms.extend(_bigrams(run) if _IS_BIGRAM.match(run) else _identifier_terms(_parts(run)))
    return tuple(_bounded(terms))


def stem(term: str) -> str:
    """Reduce plural, past and -ing forms of an English word to one form. A light stemmer: short words lose only a plural s.

    `queries` and `query`, `files` and `file`, `parsing` and `parse` become equal; `class` and `status` do not change.
    """
    if len(term) < 3 or not term.isascii() or not term.isalpha():
        return term
    term = _without_plural(term)
    for ending in ("ing", "ed"):
        left = term.removesuffix(ending)
        if left != term and len(left) >= 3 and _VOWEL.search(left):
            return _undouble(left)
    return term.removesuffix("e") if len(term) > 3 else term


def _without_plural(term: str) -> str:
    if term.endswith("ies") and len(term) > 4:
        return term[:-3] + "y"
    if term.endswith(("ches", "shes", "sses", "xes", "zes")):
        return term[:-2]
    return term[:-1] if term.endswith("s") and not term.endswith(_KEEPS_S) else term


def _undouble(left: str) -> str:
    """Reduce a doubled consonant: `runn` to `run`. `pars`, from `parsing` and `parsed`, equals the stem of `parse`."""
    doubled = len(left) > 3 and left[-1] == left[-2] and left[-1] not in "lsz"
    return left[:-1] if doubled else left


def _identifier_terms(parts: list[str]) -> Iterator[str]:
    folded = [part.casefold() for part in parts if part != "s"]
    if folded:
        yield stem("".join(folded))
    if len(folded) > 1:
        yield from map(stem, folded)


def _parts(word: str) -> list[str]:
    """Split an identifier of any alphabet: at a change of case, and before and after digits."""
    shape = "".join(map(_shape, word))
    cuts = [0, *(edge for found in _EDGE.finditer(shape) for edge in found.span()), len(word)]
    return [part for start, end in pairwise(cuts) if (part := word[start:end].strip("_"))]


def _shape(character: str) -> str:
    if character == "_":
        return "_"
    return "d" if character.isdigit() else "u" if character.isupper() else "l"


def _without_accents(word: str) -> str:
    """Remove accents, so that `café` equals `cafe`. Other marks carry meaning and are kept."""
    return unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFD", word)))


def _bounded(terms: Iterable[str]) -> Iterator[str]:
    return (term[:MAX_TERM] for term in terms if term)


def _bigrams(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    for at in range(len(run) - 1):
        yield run[at : at + 2]
