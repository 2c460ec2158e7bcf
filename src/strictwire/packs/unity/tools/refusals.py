"""Failures of the Unity tools: each is UNITY_ERROR (-32004) with `unityError` and the argument it is about."""

from __future__ import annotations

from strictwire.fault.failure import Refused, fail
from strictwire.packs.kit.path import parse_path
from strictwire.packs.unity.hierarchy.sources import Obstacle
from strictwire.packs.unity.reading import Unreadable


def unity_error(text: str, reason: str, **context: str) -> Refused:
    """`text` is the short message, `reason` the whole sentence, `context` the arguments it is about."""
    return Refused(fail("UNITY_ERROR", text=text, details={"unityError": reason, **context}))


def unreadable(what: str, argument: str, path: str, exc: Unreadable) -> Refused:
    """A file that cannot be read. `what` names its kind, such as `Scene file`."""
    text = f"{what} not found" if exc.obstacle is Obstacle.ABSENT else f"{what} cannot be read"
    return unity_error(text, f"{what} '{path}' {exc.reason}", **{argument: path})


def read_path(what: str, argument: str, path: str) -> str:
    """A path of the project in its one spelling. Raises Refused: it is malformed or leads outside."""
    try:
        return parse_path(path).text
    except Refused as exc:
        reason = "is not a valid path" if exc.failure.code == "INVALID_PATH" else "is outside the project"
        text = f"Invalid {what[:1].lower()}{what[1:]} path"
        raise unity_error(text, f"{what} path '{path}' {reason}", **{argument: path}) from exc
