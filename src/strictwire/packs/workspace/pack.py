"""The pack itself: its tools, what they work with, and how long that lives. Settings: see `grants`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.contract.handler import Handler
from strictwire.fault.failure import Refused
from strictwire.packs.kit.paging import Pages
from strictwire.packs.pack import Environment, PackRefused
from strictwire.packs.workspace.book import SessionBook
from strictwire.packs.workspace.changeset import ChangeSets
from strictwire.packs.workspace.gate import Gate, SessionTool, never
from strictwire.packs.workspace.grants import Grants, GrantsRefused, read_grants
from strictwire.packs.workspace.journal import Journals
from strictwire.packs.workspace.latch import Latches
from strictwire.packs.workspace.permit import Permits
from strictwire.packs.workspace.planning import Planning
from strictwire.packs.workspace.plans.approval import KeyRefused, open_sealing
from strictwire.packs.workspace.plans.shelf import Shelf
from strictwire.packs.workspace.policy.judge import Policy
from strictwire.packs.workspace.policy.languages import find_missing
from strictwire.packs.workspace.preflight import Preflight
from strictwire.packs.workspace.reading import Reading
from strictwire.packs.workspace.report import is_report_path
from strictwire.packs.workspace.sessions import Sessions
from strictwire.packs.workspace.writing import Writing

KEY: Final = Path("workspace") / "keys" / "approval.key"
"""Below the state folder of packs."""

LOCKS: Final = Path("workspace") / "locks"

JOURNALS: Final = Path("workspace") / "journals"


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
    )
    schemas: Path | None = None

    def __init__(self, *, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._book: SessionBook | None = None

    async def open(self, environment: Environment) -> Mapping[str, Handler]:
        """See Pack. Raises PackRefused: settings that cannot be used, no state folder, a key that is not safe."""
        if environment.state is None:
            raise PackRefused(self.name, "expected a state folder for its key and its locks")
        try:
            grants = read_grants(environment.settings)
            _check_parsers(grants)
            return self._handlers(grants, environment.state)
        except Refused as exc:
            raise PackRefused(self.name, f"a change set that was cut off cannot be undone ({exc.failure.text})") from exc
        except (GrantsRefused, KeyRefused) as exc:
            raise PackRefused(self.name, str(exc)) from exc
        except OSError as exc:
            raise PackRefused(self.name, f"its state folder cannot be used ({exc.strerror})") from exc

    async def close(self) -> None:
        """See Pack."""
        if self._book is not None:
            self._book.close()

    def _handlers(self, grants: Grants, state: Path) -> Mapping[str, Handler]:
        book = self._book = SessionBook(grants, now=self._now)
        shelf = Shelf(open_sealing(state / KEY), now=self._now)
        sessions, reading, planning = Sessions(book), Reading(Pages(clock=time.monotonic)), Planning(shelf, grants)
        journals = Journals(state / JOURNALS)
        permits, latches, preflight = Permits(shelf), Latches(state / LOCKS), Preflight(programs=grants.commands)
        # Before anyone can see a set that a death cut in half.
        journals.recover(latches)
        policy = Policy(severities=grants.severities) if grants.policy else None
        writing = Writing(permits=permits, latches=latches, preflight=preflight, policy=policy, book=book)
        sets = ChangeSets(permits=permits, latches=latches, preflight=preflight, policy=policy, journals=journals)
        behind: dict[str, SessionTool] = {
            "end_session": sessions.end,
            "session_status": sessions.status,
            "read_file": reading.read_file,
            "list_files": reading.list_files,
            "search_text": reading.search_text,
            "create_plan": planning.create,
            "lint_plan": planning.lint,
            "approve_plan": planning.approve,
            "list_plans": planning.list,
            "read_plan": planning.read,
            "write_file": writing.write_file,
            "move_file": writing.move_file,
            "delete_file": writing.delete_file,
            "apply_changes": sets.apply,
        }
        gates = {
            tool: Gate(tool=tool, run=run, book=book, is_report=_writes_report if tool == "write_file" else never)
            for tool, run in behind.items()
        }
        return {"begin_session": sessions.begin, **gates}


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
