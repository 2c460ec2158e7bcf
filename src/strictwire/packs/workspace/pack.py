"""The pack itself: its tools, what they work with, and how long that lives. Settings: see `grants`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from strictwire.audit.view import TrailView
from strictwire.canon.json import JsonObject
from strictwire.contract.handler import Handler
from strictwire.fault.failure import Refused
from strictwire.packs.kit.grammars import find_missing
from strictwire.packs.kit.paging import Pages
from strictwire.packs.pack import Environment, PackRefused
from strictwire.packs.workspace.archive import Archive
from strictwire.packs.workspace.attest.tools import Attestation
from strictwire.packs.workspace.book import SessionBook
from strictwire.packs.workspace.changeset import ChangeSets
from strictwire.packs.workspace.commit import Commits
from strictwire.packs.workspace.gate import Gate, SessionTool, never
from strictwire.packs.workspace.grants import Grants, GrantsRefused, read_grants
from strictwire.packs.workspace.integrity import Integrity
from strictwire.packs.workspace.journal import Journals
from strictwire.packs.workspace.latch import Latches
from strictwire.packs.workspace.ledger import Ledger
from strictwire.packs.workspace.permit import Permits
from strictwire.packs.workspace.planning import Planning
from strictwire.packs.workspace.plans.approval import KeyRefused, Sealing, open_sealing
from strictwire.packs.workspace.plans.shelf import Shelf
from strictwire.packs.workspace.policy.judges import Judges
from strictwire.packs.workspace.preflight import Preflight
from strictwire.packs.workspace.prompts import Prompts
from strictwire.packs.workspace.reading import Reading
from strictwire.packs.workspace.records import Records
from strictwire.packs.workspace.replay import Replay
from strictwire.packs.workspace.report import is_report_path
from strictwire.packs.workspace.roster import Roster
from strictwire.packs.workspace.sessions import Sessions
from strictwire.packs.workspace.writing import Writing

KEY: Final = Path("workspace") / "keys" / "approval.key"
"""Below the state folder of packs."""

LOCKS: Final = Path("workspace") / "locks"

JOURNALS: Final = Path("workspace") / "journals"

CHANGES: Final = Path("workspace") / "changes"

CONTENTS: Final = Path("workspace") / "contents"

ROSTER: Final = Path("workspace") / "roster"


class WorkspacePack:
    """See packs.pack.Pack."""

    name: Final = "workspace"
    tools: Final = (
        "begin_session",
        "end_session",
        "session_status",
        "read_file",
        "list_files",
        "search_text",
        "create_plan",
        "lint_plan",
        "approve_plan",
        "list_plans",
        "read_plan",
        "write_file",
        "move_file",
        "delete_file",
        "apply_changes",
        "commit_phase",
        "read_prompt",
        "read_audit_log",
        "verify_workspace_integrity",
        "replay_execution",
        "generate_attestation_bundle",
        "verify_attestation_bundle",
        "export_attestation_bundle",
    )
    schemas: Path | None = None

    def __init__(self, *, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._book: SessionBook | None = None
        self._roster: Roster | None = None
        self._judges: Judges | None = None

    async def open(self, environment: Environment) -> Mapping[str, Handler]:
        """See Pack. Raises PackRefused: settings that cannot be used, no state folder, a key that is not safe."""
        if not environment.alone:
            raise PackRefused(self.name, "its sessions live in one process; serve it with --workers 1")
        if environment.state is None:
            raise PackRefused(self.name, "expected a state folder for its key and its locks")
        try:
            grants = read_grants(environment.settings, local=environment.local)
            _check_parsers(grants)
            return self._handlers(grants, environment.state, environment.trail)
        except Refused as exc:
            raise PackRefused(self.name, f"a change set that was cut off cannot be undone ({exc.failure.text})") from exc
        except (GrantsRefused, KeyRefused) as exc:
            raise PackRefused(self.name, str(exc)) from exc
        except OSError as exc:
            raise PackRefused(self.name, f"its state folder cannot be used ({exc.strerror})") from exc

    async def close(self) -> None:
        """See Pack."""
        if self._judges is not None:
            self._judges.close()
        if self._book is not None:
            self._book.close()
        if self._roster is not None:
            self._roster.close()

    def _handlers(self, grants: Grants, state: Path, trail: TrailView | None) -> Mapping[str, Handler]:
        roster = self._roster = Roster(state / ROSTER)
        book = self._book = SessionBook(grants, now=self._now, tell=roster.tell)
        sealing = open_sealing(state / KEY)
        shelf = Shelf(sealing, now=self._now)
        ledger = Ledger(state / CHANGES, Archive(state / CONTENTS, limit=grants.history_bytes), now=self._now)
        sessions = Sessions(book)
        behind = {
            "end_session": sessions.end,
            "session_status": sessions.status,
            "read_prompt": Prompts(book, grants).read,
            **_reading(),
            **_planning(shelf, grants),
            **self._changing(grants, state, shelf=shelf, ledger=ledger, book=book),
            **_evidence(grants, trail, shelf=shelf, ledger=ledger, sealing=sealing),
        }
        gates = {
            tool: Gate(tool=tool, run=run, book=book, is_report=_writes_report if tool == "write_file" else never)
            for tool, run in behind.items()
        }
        return {"begin_session": sessions.begin, **gates}

    def _changing(
        self, grants: Grants, state: Path, *, shelf: Shelf, ledger: Ledger, book: SessionBook
    ) -> Mapping[str, SessionTool]:
        journals = Journals(state / JOURNALS)
        permits, latches = Permits(shelf), Latches(state / LOCKS)
        # The folder of the product with its keys and logs, where this pack has its own in it.
        hidden = str(state.parent if state.name == "packs" else state)
        preflight = Preflight(programs=grants.commands, hidden=(hidden,))
        # Before anyone can see a set that a death cut in half.
        journals.recover(latches)
        judges = self._judges = Judges(grants.severities) if grants.policy else None
        writing = Writing(permits=permits, latches=latches, preflight=preflight, judges=judges, book=book, ledger=ledger)
        sets = ChangeSets(
            permits=permits, latches=latches, preflight=preflight, judges=judges, journals=journals, ledger=ledger
        )
        commits = Commits(permits=permits, ledger=ledger, latches=latches, preflight=preflight, now=self._now)
        return {
            "write_file": writing.write_file,
            "move_file": writing.move_file,
            "delete_file": writing.delete_file,
            "apply_changes": sets.apply,
            "commit_phase": commits.commit,
        }


def _reading() -> Mapping[str, SessionTool]:
    reading = Reading(Pages(clock=time.monotonic))
    return {"read_file": reading.read_file, "list_files": reading.list_files, "search_text": reading.search_text}


def _planning(shelf: Shelf, grants: Grants) -> Mapping[str, SessionTool]:
    planning = Planning(shelf, grants)
    return {
        "create_plan": planning.create,
        "lint_plan": planning.lint,
        "approve_plan": planning.approve,
        "list_plans": planning.list,
        "read_plan": planning.read,
    }


def _evidence(
    grants: Grants, trail: TrailView | None, *, shelf: Shelf, ledger: Ledger, sealing: Sealing
) -> Mapping[str, SessionTool]:
    records = Records(trail, grants)
    replay = Replay(trail=trail, ledger=ledger, shelf=shelf, records=records)
    attestation = Attestation(trail=trail, replay=replay, shelf=shelf, sealing=sealing)
    return {
        "read_audit_log": records.read,
        "verify_workspace_integrity": Integrity(trail=trail, shelf=shelf, ledger=ledger).verify,
        "replay_execution": replay.run,
        "generate_attestation_bundle": attestation.generate,
        "verify_attestation_bundle": attestation.verify,
        "export_attestation_bundle": attestation.export,
    }


def _check_parsers(grants: Grants) -> None:
    """Raises GrantsRefused: content is to be judged, and the parsers are not there. What cannot be judged is not passed."""
    missing = find_missing() if grants.policy else None
    if missing is not None:
        raise GrantsRefused(f"{missing} is not installed: pip install 'strictwire[workspace]', or set policy = \"off\"")


def _writes_report(arguments: JsonObject) -> bool:
    """A path that cannot be read is not a report's; the tool will say what is wrong with it."""
    try:
        return is_report_path(arguments["path"])
    except Refused:
        return False


def pack() -> WorkspacePack:
    """The entry point."""
    return WorkspacePack()
