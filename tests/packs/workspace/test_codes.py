"""Every one of the thirty-five codes of `system/1.0`, over the wire, from its real cause in this pack (S3, S12).

Two causes are defects, which a correct pack does not have: there a handler is registered that has one.
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
from tests.packs.workspace.desk import BUILDER, ENVELOPE, PLANNER, STRANGER, ToolRefused, report, run, sha256
from tests.packs.workspace.office import Office, open_office

from strictwire import Server
from strictwire.audit.event import Call, render_body
from strictwire.contract.handler import CallContext
from strictwire.fault.dialects.system_v1 import SYSTEM_ERROR_CODES
from strictwire.packs.workspace.pack import WorkspacePack
from strictwire.server.packs import read_contracts
from strictwire.server.testing import MemoryClient
from strictwire.stores.files.config import TrailConfig, open_writer

Envelope: TypeAlias = dict[str, Any]
Cause: TypeAlias = Callable[[Office], Awaitable[Envelope]]

EMPTY = sha256(b"")


async def refused(office: Office, principal: str, tool: str, /, **arguments: Any) -> Envelope:
    try:
        answer = await office.desk.call(principal, tool, **arguments)
    except ToolRefused as exc:
        return exc.envelope
    raise AssertionError(f"{tool} answered {answer}")


def reading(**arguments: Any) -> Cause:
    return lambda office: refused(office, BUILDER, "read_file", **({"session_id": office.builder} | arguments))


def writing(**arguments: Any) -> Cause:
    """A write of the builder under the plan of the office."""

    def cause(office: Office) -> Awaitable[Envelope]:
        base = {"session_id": office.builder, "plan_hash": office.plan_hash, "phase_id": "PHASE_1", "path": "src/new"}
        return refused(office, BUILDER, "write_file", **(base | {"content": "x"} | arguments))

    return cause


def patching(patch: str) -> Cause:
    def cause(office: Office) -> Awaitable[Envelope]:
        base = {"session_id": office.builder, "plan_hash": office.plan_hash, "phase_id": "PHASE_1", "path": "src/keep"}
        return refused(office, BUILDER, "write_file", **base, patch=patch, previousHash=EMPTY)

    return cause


def beginning(principal: str, role: str, root: str | None = None) -> Cause:
    return lambda office: refused(office, principal, "begin_session", workspace_root=root or str(office.root), role=role)


async def locked(office: Office) -> Envelope:
    await refused(office, PLANNER, "read_file", session_id=office.planner, path="../x")
    return await refused(office, PLANNER, "approve_plan", session_id=office.planner, plan_hash=office.plan_hash)


async def other_role(office: Office) -> Envelope:
    plan_hash = await office.desk.approved(office.planner, role="ANTIGRAVITY")
    return await writing(plan_hash=plan_hash)(office)


async def not_approved(office: Office) -> Envelope:
    return await writing(plan_hash=await office.desk.plan(office.planner, title="Nobody has read it"))(office)


async def tampered(office: Office) -> Envelope:
    plan_hash = await office.desk.approved(office.planner, title="Tampered with")
    path = office.root / f"docs/plans/{plan_hash}.md"
    path.write_text(path.read_text().replace("src/**", "**"))
    return await writing(plan_hash=plan_hash)(office)


async def preflight(office: Office) -> Envelope:
    phase = {"verification_commands": [["false"]]}
    return await writing(plan_hash=await office.desk.approved(office.planner, phase=phase))(office)


async def root_replaced(office: Office) -> Envelope:
    away = office.root.with_name("away")
    office.root.rename(away)
    office.root.mkdir()
    try:
        return await reading(path="src/keep")(office)
    finally:
        office.root.rmdir()
        away.rename(office.root)


async def lock_held(office: Office) -> Envelope:
    """Another process keeps the lock of the trail."""
    with (office.trail.folder / "audit-log.lock").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        return await reading(path="src/keep")(office)


async def trail_gone(office: Office) -> Envelope:
    away = office.trail.folder.with_name("audit-away")
    office.trail.folder.rename(away)
    try:
        return await reading(path="src/keep")(office)
    finally:
        away.rename(office.trail.folder)


async def defect(office: Office) -> Envelope:
    """A handler whose answer is not what its contract promises."""

    def handler(_arguments: Any, _context: CallContext) -> Any:
        return {"not": "what was promised"}

    server = Server("defect", version="1.0.0")
    contract = next(each for each in read_contracts(WorkspacePack()) if each.name == "read_file")
    server.add_tool(contract, handler)
    async with MemoryClient(server) as client:
        result = await client.call_tool("read_file", {"session_id": office.builder, "path": "x"})
    assert result["isError"]
    return dict(result["structuredContent"])


def serve(folder: Path, config: str) -> Envelope:
    """What a server that cannot start tells on standard error (S13)."""
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


async def no_roots(office: Office) -> Envelope:
    return await asyncio.to_thread(serve, office.root.parent / "bootstrap", "[packs.workspace]\n")


async def damaged_trail(office: Office) -> Envelope:
    """Records that were signed for are gone when the server starts."""
    folder = office.root.parent
    trail = TrailConfig(folder=folder / "damaged", key_path=folder / "damaged.key")
    log = open_writer(trail)
    log.append([render_body(Call(timestamp="t"))] * 3)
    log.sign()
    log.close()
    lines = (trail.folder / "audit-log.jsonl").read_bytes().splitlines(keepends=True)
    (trail.folder / "audit-log.jsonl").write_bytes(b"".join(lines[:1]))
    config = f'[audit]\nfolder = "{trail.folder}"\nkey = "{trail.key_path}"\n[packs.workspace]\nroots = ["{office.root}"]\n'
    return await asyncio.to_thread(serve, folder / "self-audit", config)


CAUSES: dict[str, Cause] = {
    "SESSION_NOT_INITIALIZED": reading(path="src/keep", session_id="0" * 36),
    "SESSION_LOCKED": locked,
    "SESSION_INITIALIZATION_FAILED": beginning(BUILDER, "WINDSURF", "/nonexistent"),
    "INVALID_INPUT_TYPE": reading(path=7),
    "INVALID_INPUT_FORMAT": writing(content="?", encoding="base64"),
    "INVALID_INPUT_VALUE": reading(path="src/keep", encoding="latin-1"),
    "MISSING_REQUIRED_FIELD": reading(),
    "UNAUTHORIZED_ACTION": lambda office: refused(
        office, BUILDER, "approve_plan", session_id=office.builder, plan_hash=office.plan_hash
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
"""Code to its cause."""


def prepare(root: Path) -> None:
    (root / "src/keep").write_bytes(b"")
    (root / "src/folder").mkdir()
    (root / "src/out").symlink_to(root.parent)
    with (root / "src/large").open("wb") as file:
        file.truncate(2 << 20)


async def unlock(office: Office, number: int) -> None:
    """Each cause finds sessions that are open."""
    for principal, session in ((BUILDER, office.builder), (PLANNER, office.planner)):
        status = await office.desk.call(principal, "session_status", session_id=session)
        if status["locked"]:
            text = report(status["lock"]["session_id"], status["lock"]["code"])
            path = f"docs/reports/{principal}-{number}.md"
            await office.desk.call(principal, "write_file", session_id=session, path=path, content=text)


@pytest.mark.slow
@pytest.mark.clause("S1", "S3", "S12", "S13")
def test_every_code_is_raised_by_its_real_cause_over_the_wire(tmp_path: Path) -> None:
    assert CAUSES.keys() == SYSTEM_ERROR_CODES.keys()

    async def use() -> dict[str, str]:
        got: dict[str, str] = {}
        async with open_office(tmp_path) as office:
            prepare(office.root)
            for number, (code, cause) in enumerate(CAUSES.items()):
                envelope = await cause(office)
                assert set(envelope) == ENVELOPE, code
                got[code] = envelope["error_code"]
                await unlock(office, number)
        return got

    assert run(use()) == {code: code for code in SYSTEM_ERROR_CODES}
