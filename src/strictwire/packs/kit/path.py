"""Syntax of paths in a jail: which texts are acceptable, checked segment by segment, before the disk is touched. Pure.

A path is relative, valid UTF-8, and separates its segments with `/`. Empty and `.` segments are dropped; a slash at the
end asks for a folder. Nothing is decoded or normalised: `%2e%2e` is an ordinary name.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from enum import Enum
from typing import Final, NoReturn

from strictwire.fault.failure import Refused, fail

MAX_BYTES: Final = 4095
"""Longest path: PATH_MAX of Linux (4096) less the closing NUL. Systems with a lower limit fail in `open`."""

MAX_SEGMENT_BYTES: Final = 255
"""Longest segment: the limit of all common file systems."""


class Names(Enum):
    """Which operating system's naming rules apply."""

    POSIX = "posix"
    WINDOWS = "windows"


HOST: Final = Names.WINDOWS if os.name == "nt" else Names.POSIX
"""The rules of this machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JailPath:
    """A syntactically valid path. Without segments it is the root itself."""

    segments: tuple[str, ...]
    folder: bool = False
    """True if the path ends in a slash or a dot, and so asks for a folder."""

    @property
    def text(self) -> str:
        """The canonical spelling."""
        return ("/".join(self.segments) or ".") + ("/" if self.folder else "")

    @property
    def parent(self) -> JailPath:
        """The folder that contains it; the root is its own parent."""
        return JailPath(segments=self.segments[:-1], folder=True)

    @property
    def name(self) -> str:
        """The last segment; empty for the root."""
        return self.segments[-1] if self.segments else ""


def parse_path(text: str, names: Names = HOST) -> JailPath:
    """Parse a path given by a client.

    Raises Refused with the first of:
    1. INVALID_PATH: empty, contains NUL, not UTF-8, too long, a `file:` URI, or (Windows only) a reserved name;
    2. PATH_TRAVERSAL_BLOCKED: a `..` segment. On every system both `/` and `\\` separate segments for this check;
    3. OUTSIDE_WORKSPACE: absolute, in the syntax of any system.
    """
    _check_form(text)
    if ".." in re.split(r"[/\\]", text):
        raise Refused(fail("PATH_TRAVERSAL_BLOCKED"))
    parts = re.split(r"[/\\]", text) if names is Names.WINDOWS else text.split("/")
    segments = tuple(part for part in parts if part not in ("", "."))
    # Checked again without dot segments, because `./c:/x` is `c:/x`.
    if _ABSOLUTE[names].match(text) or _ABSOLUTE[names].match("/".join(segments)):
        raise Refused(fail("OUTSIDE_WORKSPACE", details={"reason": "absolute"}))
    if any(map(_is_too_long, segments)):
        _refuse("too_long")
    if names is Names.WINDOWS and any(map(_WINDOWS_RESERVED.search, segments)):
        _refuse("reserved_name")
    return JailPath(segments=segments, folder=parts[-1] in ("", "."))


_DRIVE_OR_ROOT: Final = re.compile(r"[/\\]|[A-Za-z]:[/\\]")

_ABSOLUTE: Final = {Names.POSIX: _DRIVE_OR_ROOT, Names.WINDOWS: re.compile(r"[/\\]|[A-Za-z]:")}
"""Patterns of absolute paths. A path that is absolute on one system is refused on all, so that a tool behaves the same
everywhere. Exception: `c:name` is a drive-relative path on Windows and an ordinary name elsewhere."""

_WINDOWS_RESERVED: Final = re.compile(
    r"""[<>:"|?*\x00-\x1f] | [. ]$ | ^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])\s*(?:\.|$)""",
    re.IGNORECASE | re.VERBOSE,
)
"""Names that Windows interprets: alternate data streams (`a:b`), devices (`nul.txt`), and trailing dots and spaces, which
it drops, so that two texts would name one file."""


def _check_form(text: str) -> None:
    if not text:
        _refuse("empty")
    if "\x00" in text:
        _refuse("nul")
    # Taken as a relative path, a URI would be refused as a folder `file:` that does not exist.
    if text[:6].lower() == "file:/":
        _refuse("uri")
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


def is_within(path: str, folder: str) -> bool:
    """Return whether a resolved absolute path is a resolved folder or below it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")
