"""How many tokens a text costs. One seam, two ways: a model's own vocabulary where it is installed, the v0 estimate else.

The vocabulary comes in the wheel of the `tokens` extra: nothing is downloaded, and a count never depends on the network.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Protocol

from strictwire.packs.context.words import estimate_tokens


class Counter(Protocol):
    """Counts tokens."""

    @property
    def name(self) -> str:
        """What the counts are counts of; shown in every answer."""

    def count(self, text: str) -> int:
        """The tokens of a text."""


class ByteCounter:
    """Four UTF-8 bytes a token, rounded up: what v0 counts."""

    name = "bytes/4"

    def count(self, text: str) -> int:
        """See Counter."""
        return estimate_tokens(len(text.encode()))


class VocabularyCounter:
    """The o200k_base vocabulary, exactly. Raises ImportError without the `tokens` extra."""

    name = "o200k_base"

    def __init__(self) -> None:
        from bpe_openai import get_encoding

        self._encode = get_encoding(self.name).encode_ordinary

    def count(self, text: str) -> int:
        """See Counter."""
        return len(self._encode(text))


def open_counter() -> Counter:
    """The exact counter where it is installed."""
    return VocabularyCounter() if find_spec("bpe_openai") else ByteCounter()
