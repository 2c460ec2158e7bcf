"""The content of a change: reads the arguments, checks the old content, and makes the new content."""

from __future__ import annotations

import hashlib
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Callable
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.packs.kit.jail import Jail
from strictwire.packs.kit.path import JailPath
from strictwire.packs.kit.text import NotText, decode
from strictwire.packs.workspace.patch import PatchInvalid, PatchRejected, apply_patch, parse_patch
from strictwire.packs.workspace.path_locks import fold
from strictwire.packs.workspace.plans.model import Operation
from strictwire.packs.workspace.refusal import refuse

MAX_FILE: Final = 16 * 1024 * 1024
"""Largest file that can be changed, in bytes."""

_MAX_NAMES: Final = 100_000
"""Most names in a folder that are compared by case."""


def require_argument(arguments: JsonObject, name: str) -> str:
    """Return an argument that only some calls require. Raises Refused: MISSING_REQUIRED_FIELD."""
    if name not in arguments:
        raise refuse("MISSING_REQUIRED_FIELD", f"{name} is required here", name)
    return str(arguments[name])


def make_content(arguments: JsonObject) -> Callable[[bytes | None], bytes]:
    """Return a function from old to new content. Errors in the arguments or the patch are raised here, before any file is
    read."""
    if ("content" in arguments) == ("patch" in arguments):
        raise refuse("MISSING_REQUIRED_FIELD", "Give either content or patch", "content_or_patch")
    if "content" in arguments:
        data = _decoded(arguments["content"], arguments.get("encoding", "utf-8"))
        return lambda _old: data
    if "previousHash" not in arguments:
        raise refuse(
            "MISSING_REQUIRED_FIELD", "A patch needs previousHash, the hash of the file it applies to", "previousHash"
        )
    try:
        hunks = parse_patch(arguments["patch"])
    except PatchInvalid as exc:
        raise refuse("PATCH_INVALID", f"The patch is malformed: {exc}", "malformed", line=exc.line) from exc

    def apply(old: bytes | None) -> bytes:
        try:
            return apply_patch(decode(old or b""), hunks).encode()
        except PatchRejected as exc:
            raise refuse("PATCH_APPLY_FAILED", f"The patch does not apply: {exc}", "rejected", hunk=exc.hunk) from exc
        except NotText as exc:
            raise refuse("PATCH_APPLY_FAILED", "The file is not UTF-8 text", "not_utf8") from exc

    return apply


def _decoded(content: str, encoding: str) -> bytes:
    if encoding == "utf-8":
        return content.encode()
    try:
        return b64decode(content, validate=True)
    except (NotBase64, ValueError) as exc:
        raise refuse("INVALID_INPUT_FORMAT", "content is not valid base64", "base64") from exc


def read_expected(jail: Jail, path: JailPath, previous: str) -> bytes:
    """Read a file and check that it has the hash the client expects. Call it while the path is locked."""
    data = jail.read(path.text, limit=MAX_FILE)
    if sha256_of(data) != previous:
        text = "The file has changed since it was read; read it again and repeat the change"
        raise refuse("HASH_MISMATCH", text, "changed")
    return data


def check_case(jail: Jail, path: JailPath, *, besides: JailPath | None = None) -> None:
    """Raises Refused: FILE_ALREADY_EXISTS if another name differs only in case: some file systems treat both as one file."""
    taken = jail.list(path.parent.text, limit=_MAX_NAMES).entries
    own = besides.name if besides is not None and besides.parent == path.parent else None
    if any(fold(name) == fold(path.name) and name not in (path.name, own) for name, _ in taken):
        raise refuse("FILE_ALREADY_EXISTS", "A file whose name differs only in case exists", "case")


def change_answer(arguments: JsonObject, operation: Operation, path: JailPath, old: bytes | None = None) -> JsonObject:
    """Return the members common to all answers about a change. The audit trail holds a digest of the answer, and so of both
    hashes."""
    return {
        "operation": operation.value,
        "path": path.text,
        "previous_sha256": None if old is None else sha256_of(old),
        "plan_hash": arguments.get("plan_hash"),
        "phase_id": arguments.get("phase_id"),
    }


def sha256_of(data: bytes) -> str:
    """Return the hash by which contents are compared."""
    return hashlib.sha256(data).hexdigest()
