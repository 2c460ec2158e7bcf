"""What a build left out, and why: one record per file, and the report that sums them up. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NamedTuple

from strictwire.canon.json import JsonObject
from strictwire.fault.escape import for_terminal
from strictwire.packs.context.ingest import NotBuilt

REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "duplicate": "same content as another file, which is kept",
        "binary": "not text",
        "encoding": "text in an encoding that could not be detected",
        "oversized": "larger than the size limit",
        "damaged": "not a valid file of its kind",
        "encrypted": "encrypted with a password",
        "costly": "needs too much time or memory to convert",
        "no-text": "without text, perhaps scanned images",
        "outside": "a link to a file outside the tree",
        "too-deep": "in more folders than a build enters",
        "unreadable": "the system does not permit reading it",
        "same-id": "its path differs from another one only in upper and lower case",
        "path": "its path is not UTF-8",
    }
)
"""Reason of a skip to its text, in the order of the report."""

HARMLESS: Final = frozenset({"duplicate", "binary"})
"""Reasons that lose no document: the content is in the cache, or there is no text."""

SHOWN: Final = 3
"""Files that the summary names for each reason."""


class Skip(NamedTuple):
    """A file that was left out. `detail` names the file that is kept instead, or the limit."""

    relative: str
    reason: str
    detail: str = ""


class FileRefused(NotBuilt):
    """One file cannot become a document. A strict build ends with it; a lenient one records the skip and goes on."""

    def __init__(self, code: str, text: str, subject: str, reason: str) -> None:
        super().__init__(code, text, subject)
        self.skip = Skip(subject, reason, text)

    def __reduce__(self) -> tuple[type[FileRefused], tuple[str, str, str, str]]:  # type: ignore[override]
        return type(self), (self.failure.code, self.reason, self.subject, self.skip.reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What happened to the files of a source tree."""

    skipped: tuple[Skip, ...] = ()
    converted: Mapping[str, int] = field(default_factory=dict)
    """Encoding to the number of files that were converted from it."""
    ignored: int = 0
    """Files and folders that an ignore file or an option leaves out. What is inside such a folder is not counted."""
    other: Mapping[str, int] = field(default_factory=dict)
    """File name extension to the number of files of no requested kind."""

    @property
    def is_complete(self) -> bool:
        """Whether every document of the tree is in the cache."""
        return all(skip.reason in HARMLESS for skip in self.skipped)

    def counts(self) -> dict[str, int]:
        """Return the number of skipped files for each reason that occurs, in the order of REASONS."""
        found = Counter(skip.reason for skip in self.skipped)
        return {reason: found[reason] for reason in REASONS if found[reason]}

    def as_json(self) -> JsonObject:
        """Return everything, for `--report`."""
        return {
            "complete": self.is_complete,
            "counts": dict(self.counts()),
            "skipped": [{"file": skip.relative, "reason": skip.reason, "detail": skip.detail} for skip in self.skipped],
            "converted": dict(sorted(self.converted.items())),
            "ignored": self.ignored,
            "other": dict(sorted(self.other.items())),
        }

    def render(self) -> str:
        """Return the summary for people: one line per reason with its first files; empty if there is nothing to report."""
        lines = [
            f"skipped {count} ({REASONS[reason]}): {_first(skip for skip in self.skipped if skip.reason == reason)}"
            for reason, count in self.counts().items()
        ]
        if self.converted:
            lines.append(f"converted {_sum_up(self.converted)} to UTF-8")
        if self.ignored:
            lines.append(f"ignored {self.ignored} files and folders (.gitignore, --exclude, --include)")
        if self.other:
            lines.append(f"not documents: {_sum_up(self.other)}")
        return "".join(f"{line}\n" for line in lines)


def _first(skips: Iterable[Skip]) -> str:
    named = [
        for_terminal(f"{skip.relative} (kept: {skip.detail})" if skip.reason == "duplicate" else skip.relative)
        for skip in skips
    ]
    return ", ".join(named[:SHOWN]) + (", ..." if len(named) > SHOWN else "")


def _sum_up(counts: Mapping[str, int]) -> str:
    """Return the total and the most frequent names."""
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    named = ", ".join(f"{count} {for_terminal(name) or 'without extension'}" for name, count in most[:SHOWN])
    return f"{sum(counts.values())} files ({named}{', ...' if len(most) > SHOWN else ''})"
