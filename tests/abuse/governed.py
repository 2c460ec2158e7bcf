"""The attacker in a governed workspace of its own, with a plan that an honest reviewer has approved."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.abuse.arena import ATTACKER, Arena
from tests.packs.workspace.harness import plan_arguments

_NUMBERS = itertools.count()


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """A root below the allowed folder, and a folder outside that nothing may change."""

    arena: Arena
    root: Path
    outside: Path

    def approve(self, commands: list[list[str]] | None = None) -> dict[str, str]:
        """The arguments of a change under an approved plan for `src/**`."""
        server = self.arena.workspace
        phase = {"verification_commands": commands} if commands else {}
        planner, builder = (server.begin(ATTACKER, role, self.root) for role in ("ANTIGRAVITY", "WINDSURF"))
        reviewer = server.begin("rita", "ANTIGRAVITY", self.root)
        made = server.call(ATTACKER, "create_plan", session_id=planner, **plan_arguments(phase=phase))
        server.call("rita", "approve_plan", session_id=reviewer, plan_hash=made["plan_hash"])
        for owner, session in ((ATTACKER, planner), ("rita", reviewer)):
            server.call(owner, "end_session", session_id=session)
        return {"session_id": builder, "plan_hash": made["plan_hash"], "phase_id": "PHASE_1"}

    def call(self, tool: str, /, **arguments: Any) -> Any:
        """Call a tool as the attacker."""
        return self.arena.workspace.call(ATTACKER, tool, **arguments)


def open_workspace(arena: Arena) -> Workspace:
    """A new, empty workspace."""
    assert arena.workspace.port
    base = arena.folder / "workspace"
    number = next(_NUMBERS)
    root, outside = base / "top" / f"w{number}", base / f"outside{number}"
    (root / "src").mkdir(parents=True)
    outside.mkdir()
    return Workspace(arena=arena, root=root, outside=outside)
