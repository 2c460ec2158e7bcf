"""Named sources: which folder or package a cache was made from. Kept in one file beside the caches, never inside one."""

from __future__ import annotations

import fcntl
import os
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from strictwire.canon.json import JsonObject, Limits, NotStrict, indent, parse_object, render

REGISTRY: Final = ".strictwire-sources.json"
"""Name of the file in the folder of the caches."""

_NAME: Final = re.compile(r"[A-Za-z0-9@_][A-Za-z0-9@_+.-]{0,99}")
_MAX_BYTES: Final = 4 * 1024 * 1024
_MAX_TEXT: Final = 500
"""Most characters of a title or description: `list_caches` shows them all."""


class BadRegistry(Exception):
    """The file of the sources is not what this program writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedSource:
    """What is known about a cache beyond its documents."""

    source: str
    """A path, or `pypi:NAME==VERSION`, or `npm:NAME@VERSION`."""
    version: str = ""
    title: str = ""
    description: str = ""
    added_at: str = ""


def is_source_name(name: str) -> bool:
    """Return whether a cache may have this name: letters, digits and `@ _ + . -`, no `..`."""
    return _NAME.fullmatch(name) is not None and ".." not in name


def read_sources(root: Path) -> dict[str, NamedSource]:
    """Return the sources by name; none if there is no file. Raises BadRegistry."""
    try:
        with (root / REGISTRY).open("rb") as file:
            raw = file.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        return {}
    except OSError as exc:
        raise BadRegistry from exc
    try:
        members = parse_object(raw, Limits(size=_MAX_BYTES)).get("sources")
    except NotStrict as exc:
        raise BadRegistry from exc
    if not isinstance(members, dict):
        raise BadRegistry
    return {name: _parse(each) for name, each in members.items()}


def write_sources(root: Path, sources: Mapping[str, NamedSource]) -> None:
    """Replace the file in one step. Raises OSError."""
    value: JsonObject = {"version": 1, "sources": {name: asdict(sources[name]) for name in sorted(sources)}}
    staging = root / f"{REGISTRY}.{secrets.token_hex(6)}"
    try:
        with os.fdopen(os.open(staging, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644), "wb") as file:
            file.write(indent(render(value)) + b"\n")
        staging.replace(root / REGISTRY)
    finally:
        staging.unlink(missing_ok=True)


def update_source(root: Path, name: str, change: Callable[[NamedSource], NamedSource]) -> NamedSource:
    """Replace one source by what `change` makes of it, or of an empty one. Other processes wait meanwhile.

    Raises BadRegistry, OSError.
    """
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        # The folder itself is locked: the registry is replaced with each change, and a lock file would be left behind.
        fcntl.flock(folder, fcntl.LOCK_EX)
        known = read_sources(root)
        changed = change(known.get(name, NamedSource(source="")))
        write_sources(root, {**known, name: changed})
    finally:
        os.close(folder)
    return changed


def _parse(value: object) -> NamedSource:
    if not isinstance(value, dict):
        raise BadRegistry
    known = {name: value.get(name, "") for name in NamedSource.__slots__}
    if not all(isinstance(text, str) for text in known.values()):
        raise BadRegistry
    return NamedSource(**{name: text[:_MAX_TEXT] for name, text in known.items()})
