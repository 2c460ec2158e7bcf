"""Creates the failures of this pack: a code, a message that says what to do, and a machine-readable reason.

The cause names the change, the path and the argument. The message does not repeat them: `system/1.0` keeps paths out of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.fault.catalogue import CATALOGUE
from strictwire.fault.failure import Failure, Refused, fail


def refuse(
    code: str, text: str, reason: str | None = None, *, invariant_id: str | None = None, **more: JsonValue
) -> Refused:
    """Return a refusal to raise. The reason is also put into the cause, because `system/1.0` has no details. Raises KeyError
    for an unknown code."""
    details = more if reason is None else {"reason": reason, **more}
    return Refused(fail(code, text=text, details=details, cause=dict(details) or None, invariant_id=invariant_id))


ADVICE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "PATH_NOT_FOUND": "list_files shows the folders; write_file and apply_changes create them with make_folders",
        "FILE_NOT_FOUND": "list_files shows the files; to create one, leave out previousHash",
        "FILE_ALREADY_EXISTS": "to change it, read_file it and pass its sha256 as previousHash",
        "OUTSIDE_WORKSPACE": "use a path below workspace_root, relative or absolute",
        "PATH_TRAVERSAL_BLOCKED": "write the path without `..` segments",
        "INVALID_PATH": "use a relative path, an absolute path or a file: URI of at most 4095 bytes",
        "PLAN_NOT_FOUND": "list_plans shows the plans of this workspace",
    }
)
"""Failure code to what the client can do, for failures that the jail raises without a message of this pack."""

_NAMED: Final = frozenset({*ADVICE, "FILE_READ_FAILED", "FILE_WRITE_FAILED", "HASH_MISMATCH", "PLAN_SCOPE_VIOLATION"})
"""Failures whose cause names the path."""


def with_advice(failure: Failure) -> Failure:
    """Return the failure with what would work, if it has only the general message of its code."""
    advice = ADVICE.get(failure.code)
    if advice is None or failure.text != CATALOGUE[failure.code].text:
        return failure
    return replace(failure, text=f"{failure.text}; {advice}")


def with_path(refused: Refused, arguments: JsonObject) -> Refused:
    """Return the refusal of a call with advice and, if its cause does not name one yet, the path of the call."""
    failure, path = with_advice(refused.failure), arguments.get("path")
    if failure.code in _NAMED and isinstance(path, str) and "path" not in _cause_of(failure):
        failure = with_cause(failure, path=path)
    return refused if failure is refused.failure else Refused(failure)


def with_cause(failure: Failure, **more: JsonValue) -> Failure:
    """Return the failure with more members of its cause and details."""
    return replace(failure, cause=_cause_of(failure) | more, details={**failure.details, **more})


def _cause_of(failure: Failure) -> JsonObject:
    """Return the cause as an object. A refusal of the jail has its reason only in the details."""
    cause = failure.cause if isinstance(failure.cause, dict) else {}
    return {**failure.details, **cause}


@contextmanager
def naming_change(index: int, change: JsonObject) -> Iterator[None]:
    """Name the change of a set in every refusal that is raised within: its index, counted from 0, and its path."""
    try:
        yield
    except Refused as exc:
        failure = with_advice(exc.failure)
        text = f"changes/{index}: {failure.text}"
        named = {"change": index, "operation": change.get("operation"), "path": change.get("path")}
        raise Refused(replace(with_cause(failure, **named), text=text)) from exc
