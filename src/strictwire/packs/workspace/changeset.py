"""The tool apply_changes: several changes under one plan that are applied all or not at all, even if the process dies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from typing import TypeVar

from strictwire.canon.json import JsonObject
from strictwire.fault.failure import Refused
from strictwire.packs.kit.jail import Jail
from strictwire.packs.kit.path import JailPath, parse_path
from strictwire.packs.kit.staging import Existing
from strictwire.packs.workspace.content import check_case, make_content, read_expected, require_argument, sha256_of
from strictwire.packs.workspace.file_operations import aside_name, link_file, make_folders, remove_file, remove_folders
from strictwire.packs.workspace.journal import Journals, JournalStep
from strictwire.packs.workspace.ledger import FileChange, Ledger
from strictwire.packs.workspace.path_locks import PathLocks, fold
from strictwire.packs.workspace.permit import ChangeRequest, Permits
from strictwire.packs.workspace.plans.model import Command, Operation
from strictwire.packs.workspace.policy.worker import Draft
from strictwire.packs.workspace.policy.worker_pool import WorkerPool
from strictwire.packs.workspace.preflight import Preflight
from strictwire.packs.workspace.refusal import ADVICE, naming_change, refuse
from strictwire.packs.workspace.session_store import Session

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True, kw_only=True)
class _PathChange:
    """What a change set does to one path."""

    index: int
    """Place of its change in the set."""
    path: JailPath
    operation: Operation
    aside: JailPath | None
    """Temporary second name of the old file, so that the change can be undone; None if there is no old file."""
    old: bytes | None
    new: bytes | None
    source: JailPath | None = None
    """For the target of a move: the temporary second name of the moved file, from which it is linked here."""

    def step(self) -> JournalStep:
        """Return the entry for the journal."""
        return JournalStep(
            path=self.path.text,
            aside=None if self.aside is None else self.aside.text,
            old=None if self.old is None else sha256_of(self.old),
            new=None if self.new is None else sha256_of(self.new),
        )

    def as_file_change(self) -> FileChange:
        """Return the entry for the ledger."""
        return FileChange(path=self.path.text, operation=self.operation, old=self.old, new=self.new)

    def drafts(self) -> Iterator[Draft]:
        """Yield the file for the policy check if it has new content."""
        if self.new is not None and self.source is None:
            yield Draft(path=self.path.text, old=self.old, new=self.new)

    def as_json(self) -> JsonObject:
        """Return the entry for the answer."""
        step = self.step()
        return {"path": step.path, "previous_sha256": step.old, "sha256": step.new}

    def naming(self) -> AbstractContextManager[None]:
        """Name this change in a refusal."""
        return naming_change(self.index, {"operation": self.operation.value, "path": self.path.text})

    def apply(self, jail: Jail) -> None:
        """Change the file. Raises Refused: the codes of Jail.write."""
        if self.aside is not None:
            link_file(jail, self.path, self.aside)
        if self.new is None:
            remove_file(jail, self.path)
        elif self.source is not None:
            link_file(jail, self.source, self.path)
        else:
            jail.write(self.path.text, self.new, Existing.REFUSE if self.old is None else Existing.REPLACE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSets:
    """The tool apply_changes."""

    permits: Permits
    path_locks: PathLocks
    preflight: Preflight
    policy_workers: WorkerPool | None
    journals: Journals
    ledger: Ledger

    def apply(self, session: Session, arguments: JsonObject) -> JsonObject:
        """Apply a change set. Raises Refused: INVALID_INPUT_VALUE if a path occurs twice; the codes of write_file."""
        self.journals.recover(self.path_locks, only=session.identity)
        changes: list[JsonObject] = arguments["changes"]
        paths = [path for each in _for_each(changes, _paths) for path in each]
        _check_distinct(paths)
        permitted = _for_each(changes, lambda change: self._permit(session, arguments, change))
        commands = tuple(dict.fromkeys(command for each in permitted for command in each))
        with self.path_locks.hold(session.root, *(path.text for path in paths)):
            path_changes = [each for index, change in enumerate(changes) for each in _prepare(session.jail, index, change)]
            if self.policy_workers is not None:
                self.policy_workers.check(*(draft for each in path_changes for draft in each.drafts()))
            recorded = [each.as_file_change() for each in path_changes]
            with self.ledger.record(session, arguments, "apply_changes", recorded) as entry:
                checked = self._apply(session, path_changes, commands, arguments)
                answer = {name: arguments[name] for name in ("plan_hash", "phase_id")}
                return entry.complete(answer | {"files": [each.as_json() for each in path_changes], "preflight": checked})

    def _permit(self, session: Session, arguments: JsonObject, change: JsonObject) -> tuple[Command, ...]:
        request = ChangeRequest(
            plan_hash=arguments["plan_hash"],
            phase_id=arguments["phase_id"],
            operation=Operation(change["operation"]),
            paths=_paths(change),
        )
        return self.permits.commands(session, request)

    def _apply(
        self, session: Session, changes: list[_PathChange], commands: tuple[Command, ...], arguments: JsonObject
    ) -> list[JsonObject]:
        jail, made = session.jail, []
        try:
            if arguments.get("make_folders", False):
                made = _make_folders(jail, changes)
            _check_absent(jail, changes)
            with self.journals.writing(session, [each.step() for each in changes]):
                for each in changes:
                    with each.naming():
                        each.apply(jail)
                checked = self.preflight.check(commands, folder=session)
        except BaseException:
            remove_folders(jail, made)
            raise
        for each in changes:
            if each.aside is not None:
                # The set is applied. If this fails, `strictwire workspace status` reports the leftover second name.
                with suppress(Refused):
                    remove_file(jail, each.aside)
        return checked


def _for_each(changes: list[JsonObject], work: Callable[[JsonObject], Made]) -> list[Made]:
    """Return the result for every change. A refusal names its change."""
    made = []
    for index, change in enumerate(changes):
        with naming_change(index, change):
            made.append(work(change))
    return made


def _check_distinct(paths: list[JailPath]) -> None:
    counted = Counter(fold(path.text) for path in paths)
    twice = next((path.text for path in paths if counted[fold(path.text)] > 1), None)
    if twice is not None:
        text = "Two changes of the set name the same path; join them, or send the second in a later call"
        raise refuse("INVALID_INPUT_VALUE", text, "twice", path=twice)


def _make_folders(jail: Jail, changes: list[_PathChange]) -> list[str]:
    made: list[str] = []
    for each in changes:
        if each.old is None:
            with each.naming():
                made += make_folders(jail, each.path)
    return made


def _prepare(jail: Jail, index: int, change: JsonObject) -> list[_PathChange]:
    """Return what a change does to each of its paths. Writes nothing."""
    path, *others = _paths(change)
    operation = Operation(change["operation"])
    with naming_change(index, change):
        if operation is Operation.CREATE:
            made = make_content(change)(None)
            return [_PathChange(index=index, path=path, operation=operation, aside=None, old=None, new=made)]
        old, aside = read_expected(jail, path, require_argument(change, "previousHash")), aside_name(path)
        new = make_content(change)(old) if operation is Operation.MODIFY else None
    first = _PathChange(index=index, path=path, operation=operation, aside=aside, old=old, new=new)
    return [first, *(replace(first, path=other, aside=None, old=None, new=old, source=aside) for other in others)]


def _paths(change: JsonObject) -> tuple[JailPath, ...]:
    first = parse_path(change["path"])
    if change["operation"] == Operation.MOVE:
        return first, parse_path(require_argument(change, "new_path"))
    return (first,)


def _check_absent(jail: Jail, changes: list[_PathChange]) -> None:
    """Refuse before the first change if a new file exists already, so that this common failure needs no undo."""
    for each in changes:
        if each.old is None:
            with each.naming():
                check_case(jail, each.path)
                if any(name == each.path.name for name, _ in jail.list(each.path.parent.text, limit=100_000).entries):
                    raise refuse("FILE_ALREADY_EXISTS", f"The file exists already; {ADVICE['FILE_ALREADY_EXISTS']}")
