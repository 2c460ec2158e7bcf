"""Which texts may be looked up in a jail at all, judged by segment and before any disk is asked. Pure.

A path is relative, in UTF-8, with `/` between its segments. `.` and doubled slashes mean nothing and are left out; a
slash at the end asks for a folder. Nothing is decoded or normalised: `%2e%2e` is a name like any other.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from enum import Enum
from typing import Final, NoReturn

from strictwire.fault.failure import Refused, fail

MAX_BYTES: Final = 4095
"""Of a whole path: what Linux takes, less the closing NUL. Others take less and say so when asked."""

MAX_SEGMENT_BYTES: Final = 255
"""Of one name: the limit of every common file system."""


class Names(Enum):
    """Whose rules of names hold."""

    POSIX = "posix"
    WINDOWS = "windows"


HOST: Final = Names.WINDOWS if os.name == "nt" else Names.POSIX


@dataclass(frozen=True, slots=True, kw_only=True)
class JailPath:
    """A path that may be looked up. Without segments it is the root itself."""

    segments: tuple[str, ...]
    folder: bool = False
    """Whether the caller's slash or dot at the end asks for a folder."""

    @property
    def text(self) -> str:
        """The one spelling of this path."""
        return ("/".join(self.segments) or ".") + ("/" if self.folder else "")

    @property
    def parent(self) -> JailPath:
        """The folder it lies in; the root is its own."""
        return JailPath(segments=self.segments[:-1], folder=True)

    @property
    def name(self) -> str:
        """The last segment; empty for the root."""
        return self.segments[-1] if self.segments else ""


def parse_path(text: str, names: Names = HOST) -> JailPath:
    """Read a caller's path.

    1. INVALID_PATH: empty, NUL, not UTF-8, too long, or a name that Windows gives another meaning (there only);
    2. PATH_TRAVERSAL_BLOCKED: a `..` segment, between slashes of either kind on every system;
    3. OUTSIDE_WORKSPACE: absolute, in the spelling of any system.
    Raises Refused with the first of these.
    """
    _check_form(text)
    if ".." in re.split(r"[/\\]", text):
        raise Refused(fail("PATH_TRAVERSAL_BLOCKED"))
    parts = re.split(r"[/\\]", text) if names is Names.WINDOWS else text.split("/")
    segments = tuple(part for part in parts if part not in ("", "."))
    # Also without the dots: `./c:/x` is `c:/x`.
    if _ABSOLUTE[names].match(text) or _ABSOLUTE[names].match("/".join(segments)):
        raise Refused(fail("OUTSIDE_WORKSPACE", details={"reason": "absolute"}))
    if any(map(_is_too_long, segments)):
        _refuse("too_long")
    if names is Names.WINDOWS and any(map(_WINDOWS_MEANS_ELSE.search, segments)):
        _refuse("reserved_name")
    return JailPath(segments=segments, folder=parts[-1] in ("", "."))


_DRIVE_OR_ROOT: Final = re.compile(r"[/\\]|[A-Za-z]:[/\\]")

_ABSOLUTE: Final = {Names.POSIX: _DRIVE_OR_ROOT, Names.WINDOWS: re.compile(r"[/\\]|[A-Za-z]:")}
"""A path that is absolute somewhere is refused everywhere, so that a tool answers alike on every system. `c:name` is a
plain name outside Windows."""

_WINDOWS_MEANS_ELSE: Final = re.compile(
    r"""[<>:"|?*\x00-\x1f] | [. ]$ | ^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])\s*(?:\.|$)""",
    re.IGNORECASE | re.VERBOSE,
)
"""Streams (`a:b`), devices (`nul.txt`), and ends that Windows drops, so that two texts would name one file."""


def _check_form(text: str) -> None:
    if not text:
        _refuse("empty")
    if "\x00" in text:
        _refuse("nul")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        _refuse("not_utf8")
    if size > MAX_BYTES:
        _refuse("too_long")


def _is_too_long(segment: str) -> bool:
    return len(segment.encode()) > MAX_SEGMENT_BYTES


def _refuse(reason: str) -> NoReturn:
    raise Refused(fail("INVALID_PATH", details={"reason": reason}))
