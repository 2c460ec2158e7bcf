"""A served workspace pack for tests: one folder, four principals, calls over an in-memory transport."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from strictwire import Server
from strictwire.audit.view import TrailView
from strictwire.canon.json import JsonObject, parse_object
from strictwire.packs.pack import Environment
from strictwire.packs.workspace.pack import WorkspacePack
from strictwire.pipeline.call import Caller
from strictwire.server.packs import _offer, read_contracts
from strictwire.server.testing import MemoryClient
from strictwire.stores.memory.recorder import MemoryRecorder
from strictwire.transport.memory import MemoryConnection

START = 1_767_225_600.0
"""2026-01-01T00:00:00Z."""

PLANNER, BUILDER, REVIEWER, STRANGER = "planner", "builder", "reviewer", "stranger"

ENVELOPE = {
    "error_code", "human_message", "role", "session_id", "workspace_root", "tool_name", "invariant_id", "phase_id",
    "plan_hash", "cause", "timestamp",
}  # fmt: skip


class ToolRefused(AssertionError):
    """A tool answered with an error envelope."""

    def __init__(self, envelope: JsonObject) -> None:
        super().__init__(envelope)
        self.envelope = envelope
        self.code = envelope["error_code"]
        self.cause: Any = envelope["cause"]


@dataclass(slots=True)
class Clock:
    seconds: float = START

    def __call__(self) -> float:
        return self.seconds


@dataclass(slots=True, kw_only=True)
class Harness:
    """Calls tools as different principals."""

    root: Path
    clock: Clock
    recorder: Any
    settings: dict[str, Any]
    connections: dict[str, MemoryConnection] = field(default_factory=dict)

    async def call(self, principal: str, tool: str, /, **arguments: Any) -> Any:
        """Return the structured answer. Raises ToolRefused with the envelope, after checking that it is complete."""
        result = await self.connections[principal].call_tool(tool, arguments)
        structured = result["structuredContent"]
        if result.get("isError"):
            assert set(structured) == ENVELOPE
            assert parse_object(result["content"][0]["text"].encode()) == structured
            raise ToolRefused(structured)
        return structured

    async def code(self, principal: str, tool: str, /, **arguments: Any) -> tuple[str, Any]:
        """Return the code of a failure and its reason."""
        try:
            answer = await self.call(principal, tool, **arguments)
        except ToolRefused as exc:
            return exc.code, exc.cause.get("reason") if isinstance(exc.cause, dict) else exc.cause
        raise AssertionError(f"{tool} answered {answer}")

    async def begin(self, principal: str, role: str, root: Path | None = None) -> str:
        answer = await self.call(principal, "begin_session", workspace_root=str(root or self.root), role=role)
        return str(answer["session_id"])

    async def plan(self, planner: str, **changes: Any) -> str:
        """Create a plan in a session of the planner."""
        return str((await self.call(PLANNER, "create_plan", session_id=planner, **plan_arguments(**changes)))["plan_hash"])

    async def approved(self, planner: str, **changes: Any) -> str:
        """Create a plan and have it approved."""
        plan_hash = await self.plan(planner, **changes)
        reviewer = await self.begin(REVIEWER, "ANTIGRAVITY")
        await self.call(REVIEWER, "approve_plan", session_id=reviewer, plan_hash=plan_hash)
        return plan_hash


def run(work: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine; fail after a minute."""

    async def bounded() -> Any:
        async with asyncio.timeout(60):
            return await work

    return asyncio.run(bounded())


def report(session_id: str, code: str) -> str:
    """Return a valid failure report."""
    head = f"# Failure report\n\nSession: {session_id}\nError code: {code}\n"
    return head + "\n## What happened\nA step failed.\n\n## Cause\nA slip.\n\n## Next step\nTry again.\n"


def plan_arguments(**changes: Any) -> JsonObject:
    phase = {
        "title": "Build",
        "phase_id": "PHASE_1",
        "objective": "Write the module",
        "allowed_operations": ["create", "modify", "move", "delete"],
        "expected_outcomes": "The module is there",
        "failure_stop_conditions": "A test fails",
    } | changes.pop("phase", {})
    return {
        "title": "A module",
        "scope": "The folder src alone",
        "phases": [phase],
        "paths": ["src/**"],
        "rollback": "Restore the file",
    } | changes


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@asynccontextmanager
async def open_harness(
    folder: Path, *, recorder: Any = None, trail: TrailView | None = None, **settings: Any
) -> AsyncIterator[Harness]:
    """Serve a workspace at `folder/work`, with its state beside it. Records are kept in memory unless a trail is given."""
    root = folder / "work"
    root.mkdir(exist_ok=True)
    granted = {
        "roots": [str(root)],
        "approvers": [REVIEWER],
        "commands": ["true", "false", "sh", "sleep"],
        "roles": {"ANTIGRAVITY": [PLANNER, REVIEWER], "WINDSURF": [BUILDER]},
    } | settings
    clock, recorder = Clock(), recorder or MemoryRecorder()
    pack, server = WorkspacePack(now=clock), Server("harness", version="1.0.0")
    async with AsyncExitStack() as stack:
        contracts = read_contracts(pack)
        environment = Environment(settings=granted, state=folder / "state", trail=trail, contracts=tuple(contracts))
        handlers = await pack.open(environment)
        stack.push_async_callback(pack.close)
        _offer(server, pack, contracts, handlers)
        harness = Harness(root=root, clock=clock, recorder=recorder, settings=granted)
        for principal in (PLANNER, BUILDER, REVIEWER, STRANGER):
            client = MemoryClient(server, caller=Caller(principal=principal), recorder=recorder)
            harness.connections[principal] = await stack.enter_async_context(client)
        yield harness
