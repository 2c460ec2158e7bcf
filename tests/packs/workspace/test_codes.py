"""Each of the 35 codes of `system/1.0`, over the wire, from its real cause in this pack (clauses S3, S12).

Two codes are for defects, which a correct pack does not have. For these, the test registers a defective handler.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.packs.workspace.harness import BUILDER, ENVELOPE, PLANNER, STRANGER, ToolRefused, report, run, sha256
from tests.packs.workspace.project import Project, open_project

from strictwire import Server
from strictwire.audit.event import Call, render_body
from strictwire.contract.handler import CallContext
from strictwire.fault.dialects.system_v1 import SYSTEM_ERROR_CODES
from strictwire.packs.workspace.pack import WorkspacePack
from strictwire.server.packs import read_contracts
from strictwire.server.testing import MemoryClient
from strictwire.stores.files.config import TrailConfig, open_writer

Envelope: TypeAlias = dict[str, Any]
Cause: TypeAlias = Callable[[Project], Awaitable[Envelope]]

EMPTY = sha256(b"")


async def refused(project: Project, principal: str, tool: str, /, **arguments: Any) -> Envelope:
    try:
        answer = await project.harness.call(principal, tool, **arguments)
    except ToolRefused as exc:
        return exc.envelope
    raise AssertionError(f"{tool} answered {answer}")


def reading(**arguments: Any) -> Cause:
    return lambda project: refused(project, BUILDER, "read_file", **({"session_id": project.builder} | arguments))


def writing(**arguments: Any) -> Cause:
    """A write of the builder under the plan."""

    def cause(project: Project) -> Awaitable[Envelope]:
        base = {"session_id": project.builder, "plan_hash": project.plan_hash, "phase_id": "PHASE_1", "path": "src/new"}
        return refused(project, BUILDER, "write_file", **(base | {"content": "x"} | arguments))

    return cause


def patching(patch: str) -> Cause:
    def cause(project: Project) -> Awaitable[Envelope]:
        base = {"session_id": project.builder, "plan_hash": project.plan_hash, "phase_id": "PHASE_1", "path": "src/keep"}
        return refused(project, BUILDER, "write_file", **base, patch=patch, previousHash=EMPTY)

    return cause


def beginning(principal: str, role: str, root: str | None = None) -> Cause:
    return lambda project: refused(project, principal, "begin_session", workspace_root=root or str(project.root), role=role)


async def locked(project: Project) -> Envelope:
    await writing(path="../x")(project)
    return await writing()(project)


async def other_role(project: Project) -> Envelope:
    plan_hash = await project.harness.approved(project.planner, role="ANTIGRAVITY")
    return await writing(plan_hash=plan_hash)(project)


async def not_approved(project: Project) -> Envelope:
    return await writing(plan_hash=await project.harness.plan(project.planner, title="Nobody has read it"))(project)


async def tampered(project: Project) -> Envelope:
    plan_hash = await project.harness.approved(project.planner, title="Tampered with")
    path = project.root / f"docs/plans/{plan_hash}.md"
    path.write_text(path.read_text().replace("src/**", "**"))
    return await writing(plan_hash=plan_hash)(project)


async def preflight(project: Project) -> Envelope:
    phase = {"verification_commands": [["false"]]}
    return await writing(plan_hash=await project.harness.approved(project.planner, phase=phase))(project)


async def root_replaced(project: Project) -> Envelope:
    away = project.root.with_name("away")
    project.root.rename(away)
    project.root.mkdir()
    try:
        return await reading(path="src/keep")(project)
    finally:
        project.root.rmdir()
        away.rename(project.root)


async def lock_held(project: Project) -> Envelope:
    """Another process holds the lock of the trail."""
    with (project.trail.folder / "audit-log.lock").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        return await reading(path="src/keep")(project)


async def trail_gone(project: Project) -> Envelope:
    away = project.trail.folder.with_name("audit-away")
    project.trail.folder.rename(away)
    try:
        return await reading(path="src/keep")(project)
    finally:
        away.rename(project.trail.folder)


async def defect(project: Project) -> Envelope:
    """A handler whose answer violates its contract."""

    def handler(_arguments: Any, _context: CallContext) -> Any:
        return {"not": "what was promised"}

    server = Server("defect", version="1.0.0")
    contract = next(each for each in read_contracts(WorkspacePack()) if each.name == "read_file")
    server.add_tool(contract, handler)
    async with MemoryClient(server) as client:
        result = await client.call_tool("read_file", {"session_id": project.builder, "path": "x"})
    assert result["isError"]
    return dict(result["structuredContent"])


def serve(folder: Path, config: str) -> Envelope:
    """Return the envelope that a server writes to stderr if it cannot start (clause S13)."""
    folder.mkdir()
    (folder / "strictwire.toml").write_text(config + '[log]\nlevel = "error"\n')
    command = [sys.executable, "-m", "strictwire.cli.main", "serve", "--stdio", "--pack", "workspace"]
    done = subprocess.run(
        [*command, "--config", str(folder / "strictwire.toml")],
        input=b"",
        capture_output=True,
        env=os.environ | {"XDG_STATE_HOME": str(folder / "xdg")},
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, b"")
    return dict(json.loads(done.stderr.splitlines()[-1]))


async def no_roots(project: Project) -> Envelope:
    return await asyncio.to_thread(serve, project.root.parent / "bootstrap", "[packs.workspace]\n")


async def damaged_trail(project: Project) -> Envelope:
    """Signed records are missing when the server starts."""
    folder = project.root.parent
    trail = TrailConfig(folder=folder / "damaged", key_path=folder / "damaged.key")
    log = open_writer(trail)
    log.append([render_body(Call(timestamp="t"))] * 3)
    log.sign()
    log.close()
    lines = (trail.folder / "audit-log.jsonl").read_bytes().splitlines(keepends=True)
    (trail.folder / "audit-log.jsonl").write_bytes(b"".join(lines[:1]))
    config = f'[audit]\nfolder = "{trail.folder}"\nkey = "{trail.key_path}"\n[packs.workspace]\nroots = ["{project.root}"]\n'
    return await asyncio.to_thread(serve, folder / "self-audit", config)


CAUSES: dict[str, Cause] = {
    "SESSION_NOT_INITIALIZED": reading(path="src/keep", session_id="0" * 36),
    "SESSION_LOCKED": locked,
    "SESSION_INITIALIZATION_FAILED": beginning(BUILDER, "WINDSURF", "/nonexistent"),
    "INVALID_INPUT_TYPE": reading(path=7),
    "INVALID_INPUT_FORMAT": writing(content="?", encoding="base64"),
    "INVALID_INPUT_VALUE": reading(path="src/keep", encoding="latin-1"),
    "MISSING_REQUIRED_FIELD": reading(),
    "UNAUTHORIZED_ACTION": lambda project: refused(
        project, BUILDER, "approve_plan", session_id=project.builder, plan_hash=project.plan_hash
    ),
    "INSUFFICIENT_PERMISSIONS": beginning(STRANGER, "WINDSURF"),
    "ROLE_MISMATCH": other_role,
    "INVALID_PATH": reading(path="a\x00b"),
    "PATH_NOT_FOUND": reading(path="src/none/x"),
    "PATH_TRAVERSAL_BLOCKED": reading(path="src/../../x"),
    "OUTSIDE_WORKSPACE": reading(path="src/out/f"),
    "FILE_NOT_FOUND": reading(path="src/none"),
    "FILE_ALREADY_EXISTS": writing(path="src/keep"),
    "FILE_READ_FAILED": reading(path="src"),
    "FILE_WRITE_FAILED": writing(path="src/folder/"),
    "PATCH_INVALID": patching("nonsense"),
    "PATCH_APPLY_FAILED": patching("@@ -1 +1 @@\n-a\n+b\n"),
    "HASH_MISMATCH": writing(path="src/keep", previousHash="0" * 64),
    "PLAN_NOT_FOUND": writing(plan_hash="0" * 64),
    "PLAN_NOT_APPROVED": not_approved,
    "PLAN_ENFORCEMENT_FAILED": tampered,
    "PLAN_SCOPE_VIOLATION": writing(path="other"),
    "POLICY_VIOLATION": writing(path="src/a.py", content="breakpoint()\n"),
    "RUST_POLICY_VIOLATION": writing(path="src/a.rs", content="static mut COUNT: u32 = 0;\n"),
    "PREFLIGHT_FAILED": preflight,
    "INVARIANT_VIOLATION": root_replaced,
    "BOOTSTRAP_FAILURE": no_roots,
    "SELF_AUDIT_FAILURE": damaged_trail,
    "AUDIT_LOG_FAILED": trail_gone,
    "AUDIT_LOCK_FAILED": lock_held,
    "INTERNAL_ERROR": defect,
    "UNKNOWN_TOOL_FAILURE": reading(path="src/large"),
}
"""Failure code to its cause."""


def prepare(root: Path) -> None:
    (root / "src/keep").write_bytes(b"")
    (root / "src/folder").mkdir()
    (root / "src/out").symlink_to(root.parent)
    with (root / "src/large").open("wb") as file:
        file.truncate(2 << 20)


async def unlock(project: Project, number: int) -> None:
    """Unlock all sessions before the next cause."""
    for principal, session in ((BUILDER, project.builder), (PLANNER, project.planner)):
        status = await project.harness.call(principal, "session_status", session_id=session)
        if status["locked"]:
            text = report(status["lock"]["session_id"], status["lock"]["code"])
            path = f"docs/reports/{principal}-{number}.md"
            await project.harness.call(principal, "write_file", session_id=session, path=path, content=text)


@pytest.mark.slow
@pytest.mark.clause("S1", "S3", "S12", "S13")
def test_every_code_is_raised_by_its_real_cause_over_the_wire(tmp_path: Path) -> None:
    assert CAUSES.keys() == SYSTEM_ERROR_CODES.keys()

    async def use() -> dict[str, str]:
        got: dict[str, str] = {}
        async with open_project(tmp_path) as project:
            prepare(project.root)
            for number, (code, cause) in enumerate(CAUSES.items()):
                envelope = await cause(project)
                assert set(envelope) == ENVELOPE, code
                got[code] = envelope["error_code"]
                await unlock(project, number)
        return got

    assert run(use()) == {code: code for code in SYSTEM_ERROR_CODES}
