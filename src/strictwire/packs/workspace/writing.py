"""write_file, move_file, delete_file: one change of one file, under a plan, against the content its author has seen.

permit -> hold the path -> compare the hash -> make the new content -> put it there in one step -> verify -> or undo
"""

from __future__ import annotations

from collections.abc import Callable

from strictwire.canon.json import JsonObject
from strictwire.fault.failure import Refused
from strictwire.packs.kit.jail import Jail
from strictwire.packs.kit.path import JailPath, parse_path
from strictwire.packs.kit.staging import Existing
from strictwire.packs.workspace.book import Session, SessionBook
from strictwire.packs.workspace.content import check_case, make_content, needed, read_seen, sha256_of, told_of
from strictwire.packs.workspace.latch import Latches
from strictwire.packs.workspace.ledger import Ledger, Touch
from strictwire.packs.workspace.names import make_folders, move_file, put_aside, remove_file, remove_folders
from strictwire.packs.workspace.permit import Permits, Request
from strictwire.packs.workspace.plans.model import Command, Operation
from strictwire.packs.workspace.policy.judges import Judges
from strictwire.packs.workspace.policy.worker import Draft
from strictwire.packs.workspace.preflight import Preflight
from strictwire.packs.workspace.refusal import refuse
from strictwire.packs.workspace.report import MAX_BYTES as MAX_REPORT
from strictwire.packs.workspace.report import find_report_problem, is_report_path


class Writing:
    """The tools that change files."""

    def __init__(
        self,
        *,
        permits: Permits,
        latches: Latches,
        preflight: Preflight,
        judges: Judges | None,
        book: SessionBook,
        ledger: Ledger,
    ) -> None:
        self._ledger = ledger
        self._permits = permits
        self._latches = latches
        self._preflight = preflight
        self._judges = judges
        self._book = book

    def write_file(self, session: Session, arguments: JsonObject) -> JsonObject:
        """write_file: without previousHash it makes a file, with it, it changes the file that has that hash.

        Raises Refused: MISSING_REQUIRED_FIELD, INVALID_INPUT_VALUE; the codes of Permits and Jail; FILE_ALREADY_EXISTS,
        FILE_NOT_FOUND, HASH_MISMATCH, PATCH_INVALID, PATCH_APPLY_FAILED, PREFLIGHT_FAILED,
        and those of Judges: POLICY_VIOLATION, RUST_POLICY_VIOLATION, OVERLOADED, INTERNAL_ERROR.
        """
        path = parse_path(arguments["path"])
        if is_report_path(path.text):
            return self._report(session, arguments, path)
        previous = arguments.get("previousHash")
        operation = Operation.CREATE if previous is None else Operation.MODIFY
        make = make_content(arguments)
        commands = self._permit(session, arguments, operation, path)
        with self._latches.hold(session.identity, path.text):
            old = None if previous is None else read_seen(session.jail, path, previous)
            new = make(old)
            warnings = self._judge(path, old, new)
            touch = Touch(path=path.text, operation=operation, old=old, new=new)
            with self._ledger.noting(session, arguments, "write_file", [touch]) as pen:
                undo = (
                    _modify(session.jail, path, old, new) if old is not None else _create(session.jail, path, new, arguments)
                )
                checked = self._verify(session, commands, undo)
                told = told_of(arguments, operation, path, old) | {"sha256": sha256_of(new), "size": len(new)}
                return pen.stood(told | {"preflight": checked, "warnings": warnings})

    def move_file(self, session: Session, arguments: JsonObject) -> JsonObject:
        """move_file. Raises Refused: the codes of write_file."""
        old, new = parse_path(arguments["path"]), parse_path(arguments["new_path"])
        commands = self._permit(session, arguments, Operation.MOVE, old, new)
        with self._latches.hold(session.identity, old.text, new.text):
            data = read_seen(session.jail, old, arguments["previousHash"])
            check_case(session.jail, new, besides=old)
            touches = [
                Touch(path=old.text, operation=Operation.MOVE, old=data, new=None),
                Touch(path=new.text, operation=Operation.MOVE, old=None, new=data),
            ]
            with self._ledger.noting(session, arguments, "move_file", touches) as pen:
                move_file(session.jail, old, new)
                checked = self._verify(session, commands, lambda: move_file(session.jail, new, old))
                told = told_of(arguments, Operation.MOVE, old, data) | {"new_path": new.text}
                return pen.stood(told | {"sha256": sha256_of(data), "size": len(data), "preflight": checked})

    def delete_file(self, session: Session, arguments: JsonObject) -> JsonObject:
        """delete_file. Raises Refused: the codes of write_file."""
        path = parse_path(arguments["path"])
        commands = self._permit(session, arguments, Operation.DELETE, path)
        with self._latches.hold(session.identity, path.text):
            data = read_seen(session.jail, path, arguments["previousHash"])
            touch = Touch(path=path.text, operation=Operation.DELETE, old=data, new=None)
            with self._ledger.noting(session, arguments, "delete_file", [touch]) as pen:
                aside = put_aside(session.jail, path)
                checked = self._verify(session, commands, lambda: move_file(session.jail, aside, path))
                remove_file(session.jail, aside)
                return pen.stood(told_of(arguments, Operation.DELETE, path, data) | {"preflight": checked})

    def _permit(
        self, session: Session, arguments: JsonObject, operation: Operation, *paths: JailPath
    ) -> tuple[Command, ...]:
        plan_hash, phase_id = (needed(arguments, name) for name in ("plan_hash", "phase_id"))
        request = Request(plan_hash=plan_hash, phase_id=phase_id, operation=operation, paths=paths)
        return self._permits.commands(session, request)

    def _verify(self, session: Session, commands: tuple[Command, ...], undo: Callable[[], None]) -> list[JsonObject]:
        try:
            return self._preflight.check(commands, folder=session.root)
        except BaseException:
            # Whatever ended the verification, an unverified change does not stay.
            restore(undo)
            raise

    def _judge(self, path: JailPath, old: bytes | None, new: bytes) -> list[JsonObject]:
        return self._judges.check(Draft(path=path.text, old=old, new=new)) if self._judges else []

    def _report(self, session: Session, arguments: JsonObject, path: JailPath) -> JsonObject:
        """A failure report: needs no plan, is never replaced, and unlocks."""
        lock = self._book.maybe_lock(session)
        text = needed(arguments, "content")
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
        told = told_of(arguments, Operation.CREATE, path)
        return told | {"sha256": sha256_of(text.encode()), "size": len(text.encode()), "preflight": [], "warnings": []}


def _modify(jail: Jail, path: JailPath, old: bytes, new: bytes) -> Callable[[], None]:
    jail.write(path.text, new)
    return lambda: jail.write(path.text, old)


def _create(jail: Jail, path: JailPath, new: bytes, arguments: JsonObject) -> Callable[[], None]:
    made = make_folders(jail, path) if arguments.get("make_folders", False) else []
    try:
        check_case(jail, path)
        jail.write(path.text, new, Existing.REFUSE)
    except Refused:
        remove_folders(jail, made)
        raise

    def undo() -> None:
        remove_file(jail, path)
        remove_folders(jail, made)

    return undo


def restore(undo: Callable[[], None]) -> None:
    """Undo a change. Raises Refused: INVARIANT_VIOLATION it cannot be undone."""
    try:
        undo()
    except Refused as exc:
        text = "A change that did not pass its verification could not be undone"
        raise refuse("INVARIANT_VIOLATION", text, "restore", invariant_id="WRITE_ATOMIC") from exc
