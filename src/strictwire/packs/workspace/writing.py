"""write_file, move_file, delete_file: one change of one file, under a plan, against the content its author has seen.

permit -> hold the path -> compare the hash -> make the new content -> put it there in one step -> verify -> or undo
"""

from __future__ import annotations

import hashlib
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Callable
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.fault.failure import Refused
from strictwire.packs.kit.jail import Jail
from strictwire.packs.kit.path import JailPath, parse_path
from strictwire.packs.kit.staging import Existing
from strictwire.packs.kit.text import NotText, decode
from strictwire.packs.workspace.book import Session, SessionBook
from strictwire.packs.workspace.latch import Latches, fold
from strictwire.packs.workspace.names import make_folders, move_file, put_aside, remove_file, remove_folders
from strictwire.packs.workspace.patch import PatchInvalid, PatchRejected, apply_patch, parse_patch
from strictwire.packs.workspace.permit import Permits, Request
from strictwire.packs.workspace.plans.model import Command, Operation
from strictwire.packs.workspace.policy.judge import Policy
from strictwire.packs.workspace.preflight import Preflight
from strictwire.packs.workspace.refusal import refuse
from strictwire.packs.workspace.report import MAX_BYTES as MAX_REPORT
from strictwire.packs.workspace.report import find_report_problem, is_report_path

MAX_FILE: Final = 16 * 1024 * 1024
"""Bytes of a file that can be changed."""

_MAX_NAMES: Final = 100_000

_MAX_WARNINGS: Final = 100


class Writing:
    """The tools that change files."""

    def __init__(
        self, *, permits: Permits, latches: Latches, preflight: Preflight, policy: Policy | None, book: SessionBook
    ) -> None:
        self._permits = permits
        self._latches = latches
        self._preflight = preflight
        self._policy = policy
        self._book = book

    def write_file(self, session: Session, arguments: JsonObject) -> JsonObject:
        """write_file: without previousHash it makes a file, with it, it changes the file that has that hash.

        Raises Refused: MISSING_REQUIRED_FIELD, INVALID_INPUT_VALUE; the codes of Permits and Jail; FILE_ALREADY_EXISTS,
        FILE_NOT_FOUND, HASH_MISMATCH, PATCH_INVALID, PATCH_APPLY_FAILED, PREFLIGHT_FAILED,
        POLICY_VIOLATION, RUST_POLICY_VIOLATION.
        """
        path = parse_path(arguments["path"])
        if is_report_path(path.text):
            return self._report(session, arguments, path)
        previous = arguments.get("previousHash")
        operation = Operation.CREATE if previous is None else Operation.MODIFY
        make = _content(arguments)
        commands = self._permit(session, arguments, operation, path)
        with self._latches.hold(session.identity, path.text):
            old = None if previous is None else _seen(session.jail, path, previous)
            new = make(old)
            warnings = self._judge(path, old, new)
            undo = _modify(session.jail, path, old, new) if old is not None else _create(session.jail, path, new, arguments)
            checked = self._verify(session, commands, undo)
        told = _told(arguments, operation, path) | {"sha256": _sha256(new), "size": len(new), "preflight": checked}
        return told | {"warnings": warnings}

    def move_file(self, session: Session, arguments: JsonObject) -> JsonObject:
        """move_file. Raises Refused: the codes of write_file."""
        old, new = parse_path(arguments["path"]), parse_path(arguments["new_path"])
        commands = self._permit(session, arguments, Operation.MOVE, old, new)
        with self._latches.hold(session.identity, old.text, new.text):
            data = _seen(session.jail, old, arguments["previousHash"])
            _check_case(session.jail, new, besides=old)
            move_file(session.jail, old, new)
            checked = self._verify(session, commands, lambda: move_file(session.jail, new, old))
        told = _told(arguments, Operation.MOVE, old) | {"new_path": new.text}
        return told | {"sha256": _sha256(data), "size": len(data), "preflight": checked}

    def delete_file(self, session: Session, arguments: JsonObject) -> JsonObject:
        """delete_file. Raises Refused: the codes of write_file."""
        path = parse_path(arguments["path"])
        commands = self._permit(session, arguments, Operation.DELETE, path)
        with self._latches.hold(session.identity, path.text):
            _seen(session.jail, path, arguments["previousHash"])
            aside = put_aside(session.jail, path)
            checked = self._verify(session, commands, lambda: move_file(session.jail, aside, path))
            remove_file(session.jail, aside)
        return _told(arguments, Operation.DELETE, path) | {"preflight": checked}

    def _permit(
        self, session: Session, arguments: JsonObject, operation: Operation, *paths: JailPath
    ) -> tuple[Command, ...]:
        plan_hash, phase_id = (_needed(arguments, name) for name in ("plan_hash", "phase_id"))
        request = Request(plan_hash=plan_hash, phase_id=phase_id, operation=operation, paths=paths)
        return self._permits.commands(session, request)

    def _verify(self, session: Session, commands: tuple[Command, ...], undo: Callable[[], None]) -> list[JsonObject]:
        try:
            return self._preflight.check(commands, folder=session.root)
        except BaseException:
            # Whatever ended the verification, an unverified change does not stay.
            _restore(undo)
            raise

    def _judge(self, path: JailPath, old: bytes | None, new: bytes) -> list[JsonObject]:
        found = self._policy.check(path.text, old=old, new=new) if self._policy else []
        return [{"rule": each.rule, "line": each.line} for each in found[:_MAX_WARNINGS]]

    def _report(self, session: Session, arguments: JsonObject, path: JailPath) -> JsonObject:
        """A failure report: needs no plan, is never replaced, and unlocks."""
        lock = self._book.maybe_lock(session)
        text = _needed(arguments, "content")
        problem = find_report_problem(
            text, session_id=lock.session_id if lock else session.id, code=lock.code if lock else None
        )
        if problem is None and len(text.encode()) > MAX_REPORT:
            problem = f"a report has at most {MAX_REPORT} bytes"
        if problem is not None:
            raise refuse("INVALID_INPUT_VALUE", f"Not a valid failure report: {problem}", "report")
        with self._latches.hold(session.identity, path.text):
            _create(session.jail, path, text.encode(), {"make_folders": True})
        self._book.unlock(session)
        told = _told(arguments, Operation.CREATE, path)
        return told | {"sha256": _sha256(text.encode()), "size": len(text.encode()), "preflight": [], "warnings": []}


def _needed(arguments: JsonObject, name: str) -> str:
    if name not in arguments:
        raise refuse("MISSING_REQUIRED_FIELD", f"{name} is required here", name)
    return str(arguments[name])


def _content(arguments: JsonObject) -> Callable[[bytes | None], bytes]:
    """How the new content is made from the old; what is wrong with the arguments or the patch is told before any file
    is looked at."""
    if ("content" in arguments) == ("patch" in arguments):
        raise refuse("MISSING_REQUIRED_FIELD", "Give content or patch, one of them", "content_or_patch")
    if "content" in arguments:
        data = _decoded(arguments["content"], arguments.get("encoding", "utf-8"))
        return lambda _old: data
    if "previousHash" not in arguments:
        raise refuse("MISSING_REQUIRED_FIELD", "A patch needs the previousHash of the file it was made from", "previousHash")
    try:
        hunks = parse_patch(arguments["patch"])
    except PatchInvalid as exc:
        raise refuse("PATCH_INVALID", f"The patch cannot be read: {exc}", "malformed", line=exc.line) from exc

    def apply(old: bytes | None) -> bytes:
        try:
            return apply_patch(decode(old or b""), hunks).encode()
        except PatchRejected as exc:
            raise refuse("PATCH_APPLY_FAILED", f"The patch does not apply: {exc}", "rejected", hunk=exc.hunk) from exc
        except NotText as exc:
            raise refuse("PATCH_APPLY_FAILED", "The file is not text", "not_utf8") from exc

    return apply


def _decoded(content: str, encoding: str) -> bytes:
    if encoding == "utf-8":
        return content.encode()
    try:
        return b64decode(content, validate=True)
    except (NotBase64, ValueError) as exc:
        raise refuse("INVALID_INPUT_FORMAT", "content is not base64", "base64") from exc


def _seen(jail: Jail, path: JailPath, previous: str) -> bytes:
    """What the file holds, if it is what the caller has seen. Read while the path is held."""
    data = jail.read(path.text, limit=MAX_FILE)
    if _sha256(data) != previous:
        text = "The file has changed since it was read; read it again and repeat the change"
        raise refuse("HASH_MISMATCH", text, "changed")
    return data


def _modify(jail: Jail, path: JailPath, old: bytes, new: bytes) -> Callable[[], None]:
    jail.write(path.text, new)
    return lambda: jail.write(path.text, old)


def _create(jail: Jail, path: JailPath, new: bytes, arguments: JsonObject) -> Callable[[], None]:
    made = make_folders(jail, path) if arguments.get("make_folders", False) else []
    try:
        _check_case(jail, path)
        jail.write(path.text, new, Existing.REFUSE)
    except Refused:
        remove_folders(jail, made)
        raise

    def undo() -> None:
        remove_file(jail, path)
        remove_folders(jail, made)

    return undo


def _check_case(jail: Jail, path: JailPath, *, besides: JailPath | None = None) -> None:
    """Raises Refused: FILE_ALREADY_EXISTS, a name that differs in case alone is taken: elsewhere they are one file."""
    taken = jail.list(path.parent.text, limit=_MAX_NAMES).entries
    own = besides.name if besides is not None and besides.parent == path.parent else None
    if any(fold(name) == fold(path.name) and name not in (path.name, own) for name, _ in taken):
        raise refuse("FILE_ALREADY_EXISTS", "A file whose name differs in case alone is there", "case")


def _restore(undo: Callable[[], None]) -> None:
    try:
        undo()
    except Refused as exc:
        text = "A change that did not pass its verification could not be undone"
        raise refuse("INVARIANT_VIOLATION", text, "restore", invariant_id="WRITE_ATOMIC") from exc


def _told(arguments: JsonObject, operation: Operation, path: JailPath) -> JsonObject:
    return {
        "operation": operation.value,
        "path": path.text,
        "plan_hash": arguments.get("plan_hash"),
        "phase_id": arguments.get("phase_id"),
    }


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
