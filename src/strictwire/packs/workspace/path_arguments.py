"""Paths as clients send them, made relative to the root: absolute paths, `file:` URIs, and a `./` in front.

Only paths that lead inside are rewritten, so the jail still decides about all others, with its own codes. The rewritten path
is looked up by the jail like any other: what is found here is a spelling, not a permission.
"""

from __future__ import annotations

import os
import re
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from strictwire.canon.json import JsonObject, JsonValue

_URI: Final = re.compile(r"file:/", re.IGNORECASE)

_PATHS: Final = frozenset({"path", "new_path", "pattern", "glob", "paths", "required_intent_artifacts"})
"""Arguments that hold a path or a list of paths."""

_NESTED: Final = frozenset({"changes", "phases", "forbidden_actions"})
"""Arguments that hold a list of objects with such arguments."""


class RelativeArguments(dict[str, Any]):
    """Arguments with relative paths. `sent` are those of the client: the audit records have their digest."""

    __slots__ = ("sent",)

    def __init__(self, arguments: JsonObject, sent: JsonObject) -> None:
        super().__init__(arguments)
        self.sent = sent


def as_sent(arguments: JsonObject) -> JsonObject:
    """Return the arguments as the client sent them."""
    return arguments.sent if isinstance(arguments, RelativeArguments) else arguments


def with_relative_paths(root: str, arguments: JsonObject) -> RelativeArguments:
    """Return the arguments with every path that leads inside `root` relative to it. `root` has its links resolved."""
    return RelativeArguments(_rewritten_members(root, arguments), arguments)


def _rewritten_members(root: str, members: JsonObject) -> JsonObject:
    return {name: _rewritten(root, name, value) for name, value in members.items()}


def _rewritten(root: str, name: str, value: JsonValue) -> JsonValue:
    if name in _PATHS and isinstance(value, str):
        return relative_to(root, value)
    if name in _PATHS and isinstance(value, list):
        return [_rewritten(root, "path", each) for each in value]
    if name in _NESTED and isinstance(value, list):
        return [_rewritten_members(root, each) if isinstance(each, dict) else each for each in value]
    return value


def relative_to(root: str, text: str) -> str:
    """Return the path relative to the root, or unchanged if it is relative already, leads outside, or is malformed."""
    path = path_of_uri(text)
    if not path.startswith("/"):
        # `./` is dropped here because a pattern of a plan has one spelling; a path is parsed by the jail in any case.
        return re.sub(r"^(?:\./+)+(?=.)", "", path)
    if ".." in path.split("/") or "\0" in path:
        return path
    return _beneath(root, path) or _beneath(root, _resolved(root, path)) or path


def path_of_uri(text: str) -> str:
    """Return the path of a `file:` URI of this machine; any other text unchanged."""
    if not _URI.match(text):
        return text
    try:
        parts = urlsplit(text)
        return unquote(parts.path, errors="strict") if parts.netloc in ("", "localhost") else text
    except ValueError:
        return text


def _beneath(root: str, path: str) -> str | None:
    """Return the path below the root, by its names alone; None if it is not there."""
    names, above = ([each for each in text.split("/") if each not in ("", ".")] for text in (path, root))
    if names[: len(above)] != above:
        return None
    rest = "/".join(names[len(above) :]) or "."
    return rest + "/" if path.endswith("/") and rest != "." else rest


def _resolved(root: str, path: str) -> str:
    """Resolve the links on the way to a path. The last name is kept, even if it is a link: a change must not follow it. The
    exception is a link to the root itself."""
    folder, _, name = path.rstrip("/").rpartition("/")
    try:
        return root if os.path.realpath(path) == root else f"{os.path.realpath(folder or '/')}/{name}"
    except ValueError:
        return path
