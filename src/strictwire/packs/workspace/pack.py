"""The pack object: its tools, their dependencies, and their lifetimes. `grants` describes the settings."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from importlib.util import find_spec
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
from strictwire.packs.workspace.changeset import ChangeSets
from strictwire.packs.workspace.commit import Commits
from strictwire.packs.workspace.grants import Grants, GrantsRefused, read_grants
from strictwire.packs.workspace.integrity import Integrity
from strictwire.packs.workspace.journal import Journals
from strictwire.packs.workspace.ledger import Ledger
from strictwire.packs.workspace.lock_files import LockFiles
from strictwire.packs.workspace.path_locks import PathLocks
from strictwire.packs.workspace.permit import Permits
from strictwire.packs.workspace.planning import Planning
from strictwire.packs.workspace.plans.approval import KeyRefused, Signer, open_signer
from strictwire.packs.workspace.plans.creations import Creations
from strictwire.packs.workspace.plans.plan_files import PlanFiles
from strictwire.packs.workspace.policy.worker_pool import WorkerPool
from strictwire.packs.workspace.preflight import Preflight
from strictwire.packs.workspace.presence import PresenceFile
from strictwire.packs.workspace.prompts import INSTRUCTIONS, Prompts
from strictwire.packs.workspace.records import Records
from strictwire.packs.workspace.replay import Replay
from strictwire.packs.workspace.report import is_report_path
from strictwire.packs.workspace.session_guard import OpeningTool, SessionGuard, SessionTool, never
from strictwire.packs.workspace.session_store import SessionStore
from strictwire.packs.workspace.sessions import Sessions
from strictwire.packs.workspace.stops import Stops
from strictwire.packs.workspace.writing import Writing

KEY: Final = Path("workspace") / "keys" / "approval.key"
"""Path of the approval key. This and the paths below are relative to the state folder of packs."""

LOCKS: Final = Path("workspace") / "locks"

SESSION_LOCKS: Final = Path("workspace") / "session-locks"

JOURNALS: Final = Path("workspace") / "journals"

CHANGES: Final = Path("workspace") / "changes"

CONTENTS: Final = Path("workspace") / "contents"

CREATIONS: Final = Path("workspace") / "creations"

STOPS: Final = Path("workspace") / "stops"
"""Files of `stops`."""

PRESENCE: Final = Path("workspace") / "roster"
"""Files of `presence`. The folder name is kept for existing installations."""


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
    one_process: Final = "its sessions are kept in one process; serve it with --workers 1"

    def __init__(self, *, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._store: SessionStore | None = None
        self._presence: PresenceFile | None = None
        self._policy_workers: WorkerPool | None = None

    async def open(self, environment: Environment) -> Mapping[str, Handler]:
        """See Pack.open. Raises PackRefused for invalid settings, a missing state folder, or an unsafe key file."""
        if not environment.alone:
            raise PackRefused(self.name, self.one_process)
        if environment.state is None:
            raise PackRefused(self.name, "it needs a state folder for its key and its locks")
        try:
            grants = read_grants(environment.settings, local=environment.local)
            _check_extras(grants)
            self._presence = PresenceFile(environment.state / PRESENCE, settings=environment.settings, roots=grants.roots)
            handlers = self._handlers(grants, environment.state, environment, self._presence)
        except Refused as exc:
            raise PackRefused(self.name, f"an interrupted change set cannot be undone ({exc.failure.text})") from exc
        except (GrantsRefused, KeyRefused) as exc:
            raise PackRefused(self.name, str(exc)) from exc
        except OSError as exc:
            raise PackRefused(self.name, f"its state folder cannot be used ({exc.strerror})") from exc
        environment.instruct(INSTRUCTIONS)
        return handlers

    async def close(self) -> None:
        """See Pack.close."""
        if self._policy_workers is not None:
            self._policy_workers.close()
        if self._store is not None:
            self._store.close()
        if self._presence is not None:
            self._presence.close()

    def _handlers(
        self,
        grants: Grants,
        state: Path,
        environment: Environment,
        presence: PresenceFile,
    ) -> Mapping[str, Handler]:
        schemas = {each.name: each.input_schema for each in environment.contracts}
        private = (_server_state(state), *environment.private)
        locks = LockFiles(state / SESSION_LOCKS)
        locks.check()
        store = self._store = SessionStore(
            grants,
            private=private,
            locks=locks,
            stops=Stops(state / STOPS),
            now=self._now,
            on_change=presence.write,
        )
        signer = open_signer(state / KEY)
        plan_files = PlanFiles(signer, Creations(state / CREATIONS, signer), now=self._now)
        ledger = Ledger(state / CHANGES, Archive(state / CONTENTS, limit=grants.history_bytes), now=self._now)
        sessions = Sessions(store, grants)
        preflight = Preflight(programs=grants.programs, hidden=tuple(map(str, private)))
        session_tools = {
            "end_session": sessions.end,
            "session_status": sessions.status,
            "read_prompt": Prompts(store, grants).read,
            **_reading(),
            **_planning(plan_files, grants, preflight),
            **self._changing(grants, state, plan_files=plan_files, ledger=ledger, store=store, preflight=preflight),
            **_evidence(grants, environment.trail, plan_files=plan_files, ledger=ledger, signer=signer),
        }
        guards = {
            tool: SessionGuard(
                tool=tool,
                run=run,
                store=store,
                is_report=_writes_report if tool == "write_file" else never,
                schema=schemas.get(tool, {}),
            )
            for tool, run in session_tools.items()
        }
        return {"begin_session": OpeningTool(run=sessions.begin, schema=schemas.get("begin_session", {})), **guards}

    def _changing(
        self,
        grants: Grants,
        state: Path,
        *,
        plan_files: PlanFiles,
        ledger: Ledger,
        store: SessionStore,
        preflight: Preflight,
    ) -> Mapping[str, SessionTool]:
        journals = Journals(state / JOURNALS)
        permits, path_locks = Permits(plan_files), PathLocks(state / LOCKS)
        # Before any client can see an interrupted change set.
        journals.recover(path_locks)
        policy_workers = self._policy_workers = WorkerPool(grants.severities) if grants.policy else None
        writing = Writing(
            permits=permits,
            path_locks=path_locks,
            preflight=preflight,
            policy_workers=policy_workers,
            store=store,
            ledger=ledger,
        )
        sets = ChangeSets(
            permits=permits,
            path_locks=path_locks,
            preflight=preflight,
            policy_workers=policy_workers,
            journals=journals,
            ledger=ledger,
        )
        commits = Commits(permits=permits, ledger=ledger, path_locks=path_locks, preflight=preflight, now=self._now)
        return {
            "write_file": writing.write_file,
            "move_file": writing.move_file,
            "delete_file": writing.delete_file,
            "apply_changes": sets.apply,
            "commit_phase": commits.commit,
        }


def _server_state(state: Path) -> Path:
    """Return the state folder of the whole server, with its keys and logs, if the pack's folder is inside it."""
    return state.parent if state.name == "packs" else state


def _reading() -> Mapping[str, SessionTool]:
    # Loads pathspec, which is an extra; `strictwire workspace` imports this module without it.
    from strictwire.packs.workspace.reading import Reading

    reading = Reading(Pages(clock=time.monotonic))
    return {"read_file": reading.read_file, "list_files": reading.list_files, "search_text": reading.search_text}


def make_preflight(grants: Grants, state: Path) -> Preflight:
    """Return what runs verification commands; they cannot read the keys and logs of the server."""
    return Preflight(programs=grants.programs, hidden=(str(_server_state(state)),))


def _planning(plan_files: PlanFiles, grants: Grants, preflight: Preflight) -> Mapping[str, SessionTool]:
    planning = Planning(plan_files, grants, preflight)
    return {
        "create_plan": planning.create,
        "lint_plan": planning.lint,
        "approve_plan": planning.approve,
        "list_plans": planning.list,
        "read_plan": planning.read,
    }


def _evidence(
    grants: Grants, trail: TrailView | None, *, plan_files: PlanFiles, ledger: Ledger, signer: Signer
) -> Mapping[str, SessionTool]:
    records = Records(trail, grants)
    replay = Replay(trail=trail, ledger=ledger, plan_files=plan_files, records=records)
    attestation = Attestation(trail=trail, replay=replay, plan_files=plan_files, signer=signer)
    return {
        "read_audit_log": records.read,
        "verify_workspace_integrity": Integrity(trail=trail, plan_files=plan_files, ledger=ledger).verify,
        "replay_execution": replay.run,
        "generate_attestation_bundle": attestation.generate,
        "verify_attestation_bundle": attestation.verify,
        "export_attestation_bundle": attestation.export,
    }


def _check_extras(grants: Grants) -> None:
    """Raises GrantsRefused without pathspec, or if the policy is on without its parsers: content that cannot be checked must
    not be accepted."""
    if find_spec("pathspec") is None:
        raise GrantsRefused("pathspec is not installed: pip install 'strictwire[workspace]'")
    missing = find_missing() if grants.policy else None
    if missing is not None:
        raise GrantsRefused(f"{missing} is not installed: pip install 'strictwire[workspace]', or set policy = \"off\"")


def _writes_report(arguments: JsonObject) -> bool:
    """Return whether a call writes a report. A malformed path is not a report; the tool reports what is wrong with it."""
    try:
        return is_report_path(arguments["path"])
    except Refused:
        return False


def pack() -> WorkspacePack:
    """Entry point of the pack."""
    return WorkspacePack()
