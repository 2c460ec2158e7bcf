"""apply_changes: several changes under one plan that stand together or not at all, also if the process dies in between."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from strictwire.canon.json import JsonObject
from strictwire.fault.failure import Refused
from strictwire.packs.kit.jail import Jail
from strictwire.packs.kit.path import JailPath, parse_path
from strictwire.packs.kit.staging import Existing
from strictwire.packs.workspace.book import Session
from strictwire.packs.workspace.content import check_case, make_content, needed, read_seen, sha256_of
from strictwire.packs.workspace.journal import Journals, Step
from strictwire.packs.workspace.latch import Latches, fold
from strictwire.packs.workspace.ledger import Ledger, Touch
from strictwire.packs.workspace.names import link_file, make_folders, name_aside, remove_file, remove_folders
from strictwire.packs.workspace.permit import Permits, Request
from strictwire.packs.workspace.plans.model import Command, Operation
from strictwire.packs.workspace.policy.judges import Judges
from strictwire.packs.workspace.policy.worker import Draft
from strictwire.packs.workspace.preflight import Preflight
from strictwire.packs.workspace.refusal import refuse


@dataclass(frozen=True, slots=True, kw_only=True)
class _Put:
    """What becomes of one path."""

    path: JailPath
    operation: Operation
    aside: JailPath | None
    old: bytes | None
    new: bytes | None
    source: JailPath | None = None
    """The name from which a file is moved here: the second name of where it was."""

    def step(self) -> Step:
        """For the journal."""
        return Step(
            path=self.path.text,
            aside=None if self.aside is None else self.aside.text,
            old=None if self.old is None else sha256_of(self.old),
            new=None if self.new is None else sha256_of(self.new),
        )

    def touch(self) -> Touch:
        """For the ledger."""
        return Touch(path=self.path.text, operation=self.operation, old=self.old, new=self.new)

    def drafts(self) -> Iterator[Draft]:
        """For the policy: content that is new."""
        if self.new is not None and self.source is None:
            yield Draft(path=self.path.text, old=self.old, new=self.new)

    def told(self) -> JsonObject:
        """For the caller."""
        step = self.step()
        return {"path": step.path, "previous_sha256": step.old, "sha256": step.new}

    def perform(self, jail: Jail) -> None:
        """Raises Refused: the codes of Jail.write."""
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
    """The tool."""

    permits: Permits
    latches: Latches
    preflight: Preflight
    judges: Judges | None
    journals: Journals
    ledger: Ledger

    def apply(self, session: Session, arguments: JsonObject) -> JsonObject:
        """apply_changes. Raises Refused: INVALID_INPUT_VALUE a path is named twice; the codes of write_file."""
        self.journals.recover(self.latches, only=session.identity)
        changes: list[JsonObject] = arguments["changes"]
        paths = [path for change in changes for path in _paths(change)]
        if len({fold(path.text) for path in paths}) != len(paths):
            raise refuse("INVALID_INPUT_VALUE", "A path is named by two changes of the set", "twice")
        commands = tuple(dict.fromkeys(each for change in changes for each in self._permit(session, arguments, change)))
        with self.latches.hold(session.identity, *(path.text for path in paths)):
            puts = [put for change in changes for put in _prepare(session.jail, change)]
            if self.judges is not None:
                self.judges.check(*(draft for put in puts for draft in put.drafts()))
            with self.ledger.noting(session, arguments, "apply_changes", [put.touch() for put in puts]) as pen:
                checked = self._perform(session, puts, commands, arguments)
                told = {name: arguments[name] for name in ("plan_hash", "phase_id")}
                return pen.stood(told | {"files": [put.told() for put in puts], "preflight": checked})

    def _permit(self, session: Session, arguments: JsonObject, change: JsonObject) -> tuple[Command, ...]:
        request = Request(
            plan_hash=arguments["plan_hash"],
            phase_id=arguments["phase_id"],
            operation=Operation(change["operation"]),
            paths=_paths(change),
        )
        return self.permits.commands(session, request)

    def _perform(
        self, session: Session, puts: list[_Put], commands: tuple[Command, ...], arguments: JsonObject
    ) -> list[JsonObject]:
        jail, made = session.jail, []
        try:
            if arguments.get("make_folders", False):
                made = [folder for put in puts if put.old is None for folder in make_folders(jail, put.path)]
            _check_absent(jail, puts)
            with self.journals.writing(session, [put.step() for put in puts]):
                for put in puts:
                    put.perform(jail)
                checked = self.preflight.check(commands, folder=session.root)
        except BaseException:
            remove_folders(jail, made)
            raise
        for put in puts:
            if put.aside is not None:
                # The set stands; a second name that stays is told by `strictwire workspace status`.
                with suppress(Refused):
                    remove_file(jail, put.aside)
        return checked


def _prepare(jail: Jail, change: JsonObject) -> Iterator[_Put]:
    """What a change does to each of its paths. Nothing is written yet."""
    path, *others = _paths(change)
    operation = Operation(change["operation"])
    if operation is Operation.CREATE:
        yield _Put(path=path, operation=operation, aside=None, old=None, new=make_content(change)(None))
        return
    old, aside = read_seen(jail, path, needed(change, "previousHash")), name_aside(path)
    new = make_content(change)(old) if operation is Operation.MODIFY else None
    yield _Put(path=path, operation=operation, aside=aside, old=old, new=new)
    for other in others:
        yield _Put(path=other, operation=operation, aside=None, old=None, new=old, source=aside)


def _paths(change: JsonObject) -> tuple[JailPath, ...]:
    first = parse_path(change["path"])
    if change["operation"] == Operation.MOVE:
        return first, parse_path(needed(change, "new_path"))
    return (first,)


def _check_absent(jail: Jail, puts: list[_Put]) -> None:
    """Told before the first change, so that the usual refusals need no undoing."""
    for put in puts:
        if put.old is None:
            check_case(jail, put.path)
            if any(name == put.path.name for name, _ in jail.list(put.path.parent.text, limit=100_000).entries):
                raise refuse("FILE_ALREADY_EXISTS", "A file that the set makes is there already")
