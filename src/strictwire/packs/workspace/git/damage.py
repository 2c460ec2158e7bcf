"""Failures of a repository: damaged, too large, or in a format that is not supported."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from dulwich.errors import ApplyDeltaError, FileFormatException
from dulwich.index import UnsupportedIndexFormat

from strictwire.fault.failure import Refused
from strictwire.packs.workspace.refusal import refuse

_ON_BAD_DATA: Final = (
    ApplyDeltaError, FileFormatException, UnsupportedIndexFormat, zlib.error, struct.error,
    AssertionError, EOFError, IndexError, KeyError, OverflowError, TypeError, ValueError,
)  # fmt: skip
"""What dulwich raises for bytes that do not have the expected format, found by fuzzing. It documents only the first two."""


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Convert the exceptions that bad data causes into FILE_WRITE_FAILED (`git_failed`)."""
    try:
        yield
    except _ON_BAD_DATA as exc:
        raise damaged(what) from exc


@contextmanager
def writing() -> Iterator[None]:
    """Convert the refusals of the jail into FILE_WRITE_FAILED (`git_failed`): a link in `.git` is no fault of the caller."""
    try:
        yield
    except Refused as exc:
        if exc.failure.code == "FILE_WRITE_FAILED":
            raise
        raise damaged("a folder of .git") from exc


def damaged(what: str) -> Refused:
    """Return the refusal for a part of the repository that cannot be read."""
    text = f"The git repository cannot be used: {what} is damaged or missing; run git fsck"
    return refuse("FILE_WRITE_FAILED", text, "git_failed", what=what)


def too_large() -> Refused:
    """Return the refusal for objects that take more memory or work than a commit may."""
    return refuse("FILE_WRITE_FAILED", "The git repository has objects that are too large; run git fsck", "git_failed")


def unsupported(what: str, remedy: str) -> Refused:
    """Return the refusal for a format that is not supported."""
    text = f"The git repository uses {what}, which commit_phase does not support; {remedy}"
    return refuse("FILE_WRITE_FAILED", text, "git_unsupported", what=what)


def busy(what: str) -> Refused:
    """Return the refusal if another process has locked a file of the repository."""
    text = f"Another git process uses the repository; if none is running, remove {what}"
    return refuse("FILE_WRITE_FAILED", text, "git_busy", what=what)
