"""The gate in front of every engine: which URIs land in a root (A.5).

Two checks, both without an existence oracle: the collapsed path must lie below a root as it is spelled, and where its
links lead must lie below a root too. A path that fails either is WORKSPACE_DENIED whether or not something is there;
only a path inside a root can be URI_INVALID for not existing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from strictwire.canon.digest import digest_bytes
from strictwire.canon.json import render_sorted
from strictwire.fault.failure import Refused, fail
from strictwire.packs.code.uri import UriRefused, parse_file_uri, render_file_uri


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """A file or folder inside a root."""

    root: Path
    path: Path
    """Resolved: without links."""

    @property
    def uri(self) -> str:
        """The canonical URI."""
        return render_file_uri(self.path)

    @property
    def relative(self) -> str:
        """The path below the root; `.` for the root itself."""
        return self.path.relative_to(self.root).as_posix()


class Gate:
    """The roots, and what lies below them."""

    def __init__(self, roots: Sequence[Path], holds: Callable[[str], bool] = lambda _path: False) -> None:
        """`roots` are absolute. Each may be given through a link; it is then known by both spellings.

        `holds` says of a path that it is a file of the roots without a link on the way, so that its name is its own.
        """
        self._holds = holds
        real = {os.path.realpath(root) for root in roots}
        self._spellings = tuple(sorted(real | {os.path.normpath(root) for root in roots}))
        self.roots = tuple(sorted(map(Path, real)))

    @property
    def key(self) -> str:
        """The digest of the roots that goes into snapshot keys (A.4)."""
        return digest_bytes(render_sorted([str(root) for root in self.roots])).removeprefix("sha256:")

    def admit(self, uri: str) -> Admitted:
        """Where a caller's URI lands. Blocks on the disk.

        Raises Refused: WORKSPACE_DENIED no roots, or outside them; URI_INVALID malformed, or nothing is there.
        """
        if not self.roots:
            raise Refused(fail("WORKSPACE_DENIED"))
        try:
            path = parse_file_uri(uri)
        except UriRefused as exc:
            raise Refused(fail("URI_INVALID")) from exc
        admitted = self._maybe_land(path)
        if admitted is None:
            raise Refused(fail("WORKSPACE_DENIED"))
        try:
            admitted.path.stat()
        except OSError as exc:
            raise Refused(fail("URI_INVALID")) from exc
        return admitted

    def filter(self) -> Callable[[str], str | None]:
        """`maybe_inside` for one answer: each URI is resolved once, however many locations name it."""
        return cache(self.maybe_inside)

    def maybe_inside(self, uri: str) -> str | None:
        """The canonical form of an engine's URI; None if it is outside the roots, or no file URI."""
        spelled = _maybe_spelling(uri)
        if spelled is None:
            return None
        path, canonical = spelled
        if self._holds(path):
            return canonical
        admitted = self._maybe_land(path)
        return None if admitted is None else admitted.uri

    def _maybe_land(self, path: str) -> Admitted | None:
        if not any(_is_below(path, spelling) for spelling in self._spellings):
            return None
        landed = os.path.realpath(path)
        # The innermost root, so that a file of a root inside another root belongs to the inner one.
        holding = [root for root in self.roots if _is_below(landed, str(root))]
        return Admitted(root=max(holding, key=lambda root: len(root.parts)), path=Path(landed)) if holding else None


def _is_below(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")


@lru_cache(maxsize=16_384)
def _maybe_spelling(uri: str) -> tuple[str, str] | None:
    """The path of a URI and the canonical URI of that path. Engines name the same files in every answer."""
    try:
        path = parse_file_uri(uri)
    except UriRefused:
        return None
    return path, render_file_uri(path)
