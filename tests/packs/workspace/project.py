"""A harness with a real audit trail, a session for each principal, and an approved plan."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.packs.workspace.harness import BUILDER, PLANNER, REVIEWER, Harness, open_harness, sha256

from strictwire.audit.view import Judged
from strictwire.stores.files.config import TrailConfig
from strictwire.stores.files.trail import open_trail
from strictwire.stores.files.view import FileTrailView
from strictwire.stores.schedule import Schedule


@dataclass(slots=True, kw_only=True)
class Project:
    """Calls as the planner, the builder and the reviewer, each in its own session."""

    harness: Harness
    trail: TrailConfig
    planner: str
    builder: str
    reviewer: str
    plan_hash: str

    @property
    def root(self) -> Path:
        return self.harness.root

    @property
    def log(self) -> Path:
        return self.trail.folder / "audit-log.jsonl"

    async def build(self, tool: str, /, **more: Any) -> Any:
        """Call a tool as the builder, under the plan."""
        base = {"session_id": self.builder, "plan_hash": self.plan_hash, "phase_id": "PHASE_1"}
        return await self.harness.call(BUILDER, tool, **(base | more))

    async def ask(self, tool: str, /, **more: Any) -> Any:
        """Call a tool as the builder, without naming the plan."""
        return await self.harness.call(BUILDER, tool, session_id=self.builder, **more)

    async def review(self, tool: str, /, **more: Any) -> Any:
        """Call a tool as the reviewer, who is also an auditor."""
        return await self.harness.call(REVIEWER, tool, session_id=self.reviewer, **more)

    async def work(self) -> None:
        """Create, change and move a file; create two more in one change set; delete one of them."""
        made = await self.build("write_file", path="src/a.py", content="one = 1\n")
        await self.build("write_file", path="src/a.py", content="one = 2\n", previousHash=made["sha256"])
        await self.build("move_file", path="src/a.py", new_path="src/b.py", previousHash=sha256(b"one = 2\n"))
        changes = [{"operation": "create", "path": f"src/{name}", "content": name} for name in "cd"]
        await self.build("apply_changes", changes=changes)
        await self.build("delete_file", path="src/d", previousHash=sha256(b"d"))

    def judge(self, after: Judged | None = None, limit: int = 100_000) -> Judged:
        return FileTrailView(self.trail).judge(after, limit=limit)


@asynccontextmanager
async def open_project(folder: Path, *, plan: dict[str, Any] | None = None, **settings: Any) -> AsyncIterator[Project]:
    """Open sessions for all three principals, and a plan for `src/**` that the reviewer has approved."""
    never = Schedule(checkpoint_seconds=3600.0)
    trail = TrailConfig(folder=folder / "audit", key_path=folder / "keys" / "audit.key", schedule=never, lock_seconds=0.2)
    recorder = await open_trail(trail)
    try:
        view = FileTrailView(trail)
        async with open_harness(folder, recorder=recorder, trail=view, **({"auditors": [REVIEWER]} | settings)) as harness:
            (harness.root / "src").mkdir(exist_ok=True)
            planner = await harness.begin(PLANNER, "ANTIGRAVITY")
            plan_hash = await harness.approved(planner, **(plan or {}))
            yield Project(
                harness=harness,
                trail=trail,
                planner=planner,
                builder=await harness.begin(BUILDER, "WINDSURF"),
                reviewer=await harness.begin(REVIEWER, "ANTIGRAVITY"),
                plan_hash=plan_hash,
            )
    finally:
        await recorder.close()
