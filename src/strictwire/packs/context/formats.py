"""The failure of every converter: a file that is not what its name says."""

from __future__ import annotations


class WrongFormat(ValueError):
    """The bytes are not a valid file of this kind. `reason` is a key of skips.REASONS."""

    def __init__(self, text: str, *, reason: str = "damaged") -> None:
        super().__init__(text)
        self.reason = reason
