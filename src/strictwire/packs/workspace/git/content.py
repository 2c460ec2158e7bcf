"""What a commit is made of: files and an author. Does not import dulwich, which is loaded only for a commit."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """A file in a commit."""

    path: str
    data: bytes | None
    """None deletes the file."""
    is_executable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Author and committer, and the time of the commit."""

    name: str
    seconds: float

    @property
    def line(self) -> str:
        """As in commits and reflogs."""
        return f"{self.name} <{self.name}@localhost> {int(self.seconds)} +0000"


def clean_name(name: str) -> str:
    """Return a principal in a form that git accepts as a name, without characters that end a name or a line."""
    return "".join(letter if letter.isalnum() or letter in "._:@+-" else "_" for letter in name) or "unknown"
