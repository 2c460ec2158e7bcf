"""`strictwire workspace doctor`: why a plan could not run, before an agent finds out. Changes nothing.

The checks are those that a session, a plan and a change go through: settings, root, roles, approval, programs, sandbox,
commits, locks, and the commands of every open plan.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from strictwire.packs.kit.grammars import find_missing
from strictwire.packs.kit.jail import Jail
from strictwire.packs.workspace.confined import find_missing_measure, remedy
from strictwire.packs.workspace.grants import Grants, GrantsRefused, read_grants
from strictwire.packs.workspace.lock_files import LockFiles
from strictwire.packs.workspace.pack import CREATIONS, KEY, PRESENCE, SESSION_LOCKS, STOPS, make_preflight
from strictwire.packs.workspace.planning import commands_of
from strictwire.packs.workspace.plans.approval import open_signer
from strictwire.packs.workspace.plans.creations import Creations
from strictwire.packs.workspace.plans.plan_files import PlanFiles
from strictwire.packs.workspace.presence import find_outdated
from strictwire.packs.workspace.protection import Protection
from strictwire.packs.workspace.roles import Role
from strictwire.packs.workspace.stops import Stops

_OPEN: Final = frozenset({"approved", "proposed"})
"""States of plans whose commands are tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One line of the report."""

    name: str
    text: str
    is_ok: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ExaminedFolder:
    """The workspace: what commands run in, without a session."""

    root: str
    identity: tuple[int, int]
    own: Jail
    protection: Protection


@dataclass(frozen=True, slots=True, kw_only=True)
class Doctor:
    """What is examined. `local` are the principals that need no token."""

    root: Path
    state: Path
    settings: Mapping[str, Any]
    local: frozenset[str]
    now: Callable[[], float]
    no_record: str
    """What to say about a plan that the state folder has no record of."""

    def examine(self) -> Iterator[Check]:
        """Yield the checks in order. A check that the later ones depend on ends the report if it fails. Raises OSError."""
        try:
            grants = read_grants(self.settings, local=self.local)
        except GrantsRefused as exc:
            yield Check(name="settings", text=f"{exc}; `strictwire workspace init` writes a file that works", is_ok=False)
            return
        yield Check(name="state", text=str(self.state.parent))
        yield from self._check_servers()
        yield _check_root(self.root, grants)
        yield from _check_people(grants, self.local)
        yield from _check_extras(grants)
        missing = find_missing_measure()
        yield _check_sandbox(missing)
        yield from _check_programs(grants, str(self.root))
        yield _check_repository(self.root)
        yield from self._check_locks()
        if missing is None:
            yield from self._check_plans(grants)

    def _check_servers(self) -> Iterator[Check]:
        for pid in find_outdated(self.state / PRESENCE, str(self.root), self.settings):
            text = f"the server with pid {pid} runs with other settings: restart it, or name its file with --config"
            yield Check(name="settings", text=text, is_ok=False)

    def _check_locks(self) -> Iterator[Check]:
        stop = Stops(self.state / STOPS).maybe_find(str(self.root))
        if stop is not None:
            yield Check(name="stopped", text=f"{stop.text}; `strictwire workspace resume` lifts it", is_ok=False)
        for owner, lock in LockFiles(self.state / SESSION_LOCKS).in_folder(str(self.root)):
            text = f"{owner.role} {owner.principal}: {lock.tool} failed with {lock.code}; a failure report unlocks"
            yield Check(name="lock", text=text, is_ok=False)

    def _check_plans(self, grants: Grants) -> Iterator[Check]:
        signer = open_signer(self.state / KEY)
        plan_files = PlanFiles(signer, Creations(self.state / CREATIONS, signer), now=self.now)
        preflight = make_preflight(grants, self.state)
        with Jail(str(self.root)) as jail:
            folder = ExaminedFolder(
                root=str(self.root), identity=jail.stat(".").identity, own=jail, protection=Protection(str(self.root))
            )
            for plan_hash in plan_files.hashes(folder):
                state = plan_files.summary(folder, plan_hash)["state"]
                if state not in _OPEN:
                    continue
                if state == "proposed" and plan_files.maybe_creation(folder, plan_hash) is None:
                    yield Check(name="plan", text=f"{plan_hash[:12]}: {self.no_record}", is_ok=False)
                    continue
                plan = plan_files.read_verified(folder, plan_hash)
                problems = [each.failure.text for each in preflight.try_start(commands_of(plan), folder=folder)]
                yield from (Check(name="plan", text=f"{plan_hash[:12]}: {each}", is_ok=False) for each in problems)
                if not problems:
                    yield Check(name="plan", text=f"{plan_hash[:12]} is {state}, and its commands start")


def _check_root(root: Path, grants: Grants) -> Check:
    if not grants.covers(str(root)):
        text = f"{root} is not in `roots` ({', '.join(grants.roots)}); no session can be opened in it"
        return Check(name="root", text=text, is_ok=False)
    if not os.access(root, os.R_OK | os.W_OK | os.X_OK):
        return Check(name="root", text=f"{root} cannot be read and written by this user", is_ok=False)
    return Check(name="root", text=str(root))


def _check_people(grants: Grants, local: frozenset[str]) -> Iterator[Check]:
    for role in Role:
        names = grants.roles[role]
        text = "the local user" if names == local else ", ".join(sorted(names)) or "nobody"
        yield Check(name="role", text=f"{role.value}: {text}", is_ok=bool(names))
    approvers = ", ".join(sorted(grants.approvers))
    yield Check(name="approve", text=approvers or "a person at a terminal, with `strictwire plan approve`")


def _check_extras(grants: Grants) -> Iterator[Check]:
    wanted = [name for name in ("pathspec", "dulwich") if find_spec(name) is None]
    missing = find_missing() if grants.policy else None
    absent = [*wanted, *([] if missing is None else [missing])]
    if absent:
        text = f"{', '.join(absent)} not installed: pip install 'strictwire[workspace]'"
        yield Check(name="install", text=text, is_ok=False)


def _check_sandbox(missing: str | None) -> Check:
    if missing is None:
        return Check(name="sandbox", text="verification commands can be confined")
    return Check(name="sandbox", text=f"{missing} missing: no verification command runs. {remedy(missing)}", is_ok=False)


def _check_programs(grants: Grants, root: str) -> Iterator[Check]:
    programs = grants.programs
    if not programs.names:
        yield Check(name="program", text="none: plans cannot have verification commands; set `commands`")
    for name in sorted(programs.names):
        problem = programs.find_problem(name, root)
        text = f"{name} is {programs.maybe_find(name, root)}" if problem is None else problem[1]
        yield Check(name="program", text=text, is_ok=problem is None)


def _check_repository(root: Path) -> Check:
    if (root / ".git").is_dir():
        return Check(name="commit", text="git repository found")
    return Check(name="commit", text="no folder .git in the root: commit_phase is not possible; run `git init`", is_ok=False)
