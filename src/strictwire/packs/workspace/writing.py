"""The tools write_file, move_file and delete_file: one change to one file, under a plan, against the expected content.

permit -> lock the path -> compare the hash -> make the new content -> replace the file atomically -> verify, or undo
"""

from __future__ import annotations

from collections.abc import Callable

from strictwire.canon.json import JsonObject
from strictwire.fault.failure import Refused
from strictwire.packs.kit.jail import Jail
from strictwire.packs.kit.path import JailPath, parse_path
from strictwire.packs.kit.staging import Existing
from strictwire.packs.workspace.content import (
    change_answer,
    check_case,
    make_content,
    read_expected,
    require_argument,
    sha256_of,
)
from strictwire.packs.workspace.file_operations import make_folders, move_file, remove_file, remove_folders, set_aside
from strictwire.packs.workspace.ledger import FileChange, Ledger
from strictwire.packs.workspace.path_locks import PathLocks
from strictwire.packs.workspace.permit import ChangeRequest, Permits
from strictwire.packs.workspace.plans.model import Command, Operation
from strictwire.packs.workspace.policy.worker import Draft
from strictwire.packs.workspace.policy.worker_pool import WorkerPool
from strictwire.packs.workspace.preflight import Preflight
from strictwire.packs.workspace.refusal import refuse
from strictwire.packs.workspace.report import MAX_BYTES as MAX_REPORT
from strictwire.packs.workspace.report import find_report_problem, is_report_path
from strictwire.packs.workspace.session_store import Session, SessionStore


class Writing:
    """The tools that change files."""

    def __init__(
        self,
        *,
        permits: Permits,
        path_locks: PathLocks,
        preflight: Preflight,
        policy_workers: WorkerPool | None,
        store: SessionStore,
        ledger: Ledger,
    ) -> None:
        self._ledger = ledger
        self._permits = permits
        self._path_locks = path_locks
        self._preflight = preflight
        self._policy_workers = policy_workers
        self._store = store

    def write_file(self, session: Session, arguments: JsonObject) -> JsonObject:
        """The tool write_file: without previousHash it creates a file, with it, it changes the file that has this hash.

        Raises Refused: MISSING_REQUIRED_FIELD, INVALID_INPUT_VALUE; the codes of Permits and Jail; FILE_ALREADY_EXISTS,
        FILE_NOT_FOUND, HASH_MISMATCH, PATCH_INVALID, PATCH_APPLY_FAILED, PREFLIGHT_FAILED;
        the codes of WorkerPool: POLICY_VIOLATION, RUST_POLICY_VIOLATION, OVERLOADED, INTERNAL_ERROR.
        """
        path = parse_path(arguments["path"])
        if is_report_path(path.text):
            return self._report(session, arguments, path)
        previous = arguments.get("previousHash")
        operation = Operation.CREATE if previous is None else Operation.MODIFY
        make = make_content(arguments)
        commands = self._permit(session, arguments, operation, path)
        with self._path_locks.hold(session.root, path.text):
            old = None if previous is None else read_expected(session.jail, path, previous)
            new = make(old)
            warnings = self._check_policy(path, old, new)
            change = FileChange(path=path.text, operation=operation, old=old, new=new)
            with self._ledger.record(session, arguments, "write_file", [change]) as entry:
                undo = (
                    _modify(session.jail, path, old, new) if old is not None else _create(session.jail, path, new, arguments)
                )
                checked = self._verify(session, commands, undo)
                answer = change_answer(arguments, operation, path, old) | {"sha256": sha256_of(new), "size": len(new)}
                return entry.complete(answer | {"preflight": checked, "warnings": warnings})

    def move_file(self, session: Session, arguments: JsonObject) -> JsonObject:
        """The tool move_file. Raises Refused: the codes of write_file."""
        old, new = parse_path(arguments["path"]), parse_path(arguments["new_path"])
        commands = self._permit(session, arguments, Operation.MOVE, old, new)
        with self._path_locks.hold(session.root, old.text, new.text):
            data = read_expected(session.jail, old, arguments["previousHash"])
            check_case(session.jail, new, besides=old)
            changes = [
                FileChange(path=old.text, operation=Operation.MOVE, old=data, new=None),
                FileChange(path=new.text, operation=Operation.MOVE, old=None, new=data),
            ]
            with self._ledger.record(session, arguments, "move_file", changes) as entry:
                move_file(session.jail, old, new)
                checked = self._verify(session, commands, lambda: move_file(session.jail, new, old))
                answer = change_answer(arguments, Operation.MOVE, old, data) | {"new_path": new.text}
                return entry.complete(answer | {"sha256": sha256_of(data), "size": len(data), "preflight": checked})

    def delete_file(self, session: Session, arguments: JsonObject) -> JsonObject:
        """The tool delete_file. Raises Refused: the codes of write_file."""
        path = parse_path(arguments["path"])
        commands = self._permit(session, arguments, Operation.DELETE, path)
        with self._path_locks.hold(session.root, path.text):
            data = read_expected(session.jail, path, arguments["previousHash"])
            change = FileChange(path=path.text, operation=Operation.DELETE, old=data, new=None)
            with self._ledger.record(session, arguments, "delete_file", [change]) as entry:
                aside = set_aside(session.jail, path)
                checked = self._verify(session, commands, lambda: move_file(session.jail, aside, path))
                remove_file(session.jail, aside)
                return entry.complete(change_answer(arguments, Operation.DELETE, path, data) | {"preflight": checked})

    def _permit(
        self, session: Session, arguments: JsonObject, operation: Operation, *paths: JailPath
    ) -> tuple[Command, ...]:
        plan_hash, phase_id = (require_argument(arguments, name) for name in ("plan_hash", "phase_id"))
        request = ChangeRequest(plan_hash=plan_hash, phase_id=phase_id, operation=operation, paths=paths)
        return self._permits.commands(session, request)

    def _verify(self, session: Session, commands: tuple[Command, ...], undo: Callable[[], None]) -> list[JsonObject]:
        try:
            return self._preflight.check(commands, folder=session)
        except BaseException:
            # BaseException: a change must not stay unverified, whatever ended the verification.
            restore(undo)
            raise

    def _check_policy(self, path: JailPath, old: bytes | None, new: bytes) -> list[JsonObject]:
        return self._policy_workers.check(Draft(path=path.text, old=old, new=new)) if self._policy_workers else []

    def _report(self, session: Session, arguments: JsonObject, path: JailPath) -> JsonObject:
        """Write a failure report. It needs no plan, is never replaced, and unlocks the session."""
        lock = self._store.maybe_lock(session)
        text = require_argument(arguments, "content")
        problem = find_report_problem(
            text, session_id=lock.session_id if lock else session.id, code=lock.code if lock else None
        )
        if problem is None and len(text.encode()) > MAX_REPORT:
            problem = f"a report has at most {MAX_REPORT} bytes"
        if problem is not None:
            raise refuse("INVALID_INPUT_VALUE", f"Not a valid failure report: {problem}", "report")
        with self._path_locks.hold(session.root, path.text):
            _create(session.own, path, text.encode(), {"make_folders": True})
        self._store.unlock(session)
        answer = change_answer(arguments, Operation.CREATE, path)
        return answer | {"sha256": sha256_of(text.encode()), "size": len(text.encode()), "preflight": [], "warnings": []}


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
