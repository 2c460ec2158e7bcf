"""Bad input of every kind over the wire: the right code, nothing changed, and an audit record."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.packs.workspace.harness import BUILDER, PLANNER, open_harness, run, sha256
from tests.packs.workspace.test_writing import Builder, open_builder

ZERO = "0" * 64
OUT, UP, BAD = "OUTSIDE_WORKSPACE", "PATH_TRAVERSAL_BLOCKED", "INVALID_PATH"

SPELLINGS = {
    "..": UP,
    "../x": UP,
    "../../../../etc/passwd": UP,
    "src/../../x": UP,
    "src/../a": UP,
    "./../x": UP,
    "src/./../../x": UP,
    "src//..//..//x": UP,
    "..\\x": UP,
    "src\\..\\..\\x": UP,
    "src/..\\../x": UP,
    "../": UP,
    "/etc/passwd": OUT,
    "//etc/passwd": OUT,
    "\\\\server\\share": OUT,
    "C:\\x": OUT,
    "C:/x": OUT,
    "/": OUT,
    "": BAD,
    "a\x00b": BAD,
    "src/\x00": BAD,
    "x" * 5000: BAD,
}
"""Path to its failure code, the same for every tool."""

HARMLESS = ("%2e%2e/x", "..%2fx", "%2e%2e%2fx", "....//x", "..;/x", "\u2025/x", "\uff0e\uff0e/x", "src/..%00/x")
"""Ordinary names that look like traversal. Nothing is decoded, so none leads outside."""


def calls_with(path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield calls of every tool that takes a path, with the path in each argument that takes one."""
    yield "read_file", {"path": path}
    yield "list_files", {"path": path}
    yield "search_text", {"path": path, "query": "x"}
    yield "write_file", {"path": path, "content": "x"}
    yield "write_file", {"path": path, "content": "x", "make_folders": True}
    yield "write_file", {"path": path, "content": "x", "previousHash": ZERO}
    yield "move_file", {"path": path, "new_path": "src/new", "previousHash": ZERO}
    yield "move_file", {"path": "src/a", "new_path": path, "previousHash": sha256(b"a\r\n")}
    yield "delete_file", {"path": path, "previousHash": ZERO}
    yield "apply_changes", {"changes": [{"operation": "create", "path": path, "content": "x"}]}


READERS = frozenset({"read_file", "list_files", "search_text"})


async def refused(builder: Builder, tool: str, more: dict[str, Any]) -> str:
    """Return the failure code, after checking that it was recorded."""
    before = len(builder.harness.recorder.records)
    arguments = {"session_id": builder.session, **more} if tool in READERS else more
    code, _ = (
        await builder.harness.code(BUILDER, tool, **arguments) if tool in READERS else await builder.fails(tool, **arguments)
    )
    if tool in READERS:
        status = await builder.harness.call(BUILDER, "session_status", session_id=builder.session)
        if status["locked"]:
            await builder.fails("write_file", path="src/locked", content="x")
    ends = [each for each in builder.harness.recorder.records[before:] if each["kind"] in ("call", "outcome")]
    assert code in [end["envelope"]["error_code"] for end in ends if "envelope" in end], (tool, more)
    return str(code)


def everything(root: Path) -> dict[str, Any]:
    """Return type, content and mode of everything below, except reports."""
    found = {}
    for path in root.rglob("*"):
        if "reports" not in path.parts:
            look = path.lstat()
            held = path.read_bytes() if stat.S_ISREG(look.st_mode) and look.st_size < 1 << 20 else b""
            found[str(path)] = (look.st_mode, look.st_size, held, path.readlink() if path.is_symlink() else None)
    return found


@pytest.mark.slow
@pytest.mark.clause("S12")
def test_traversal_in_every_spelling_is_refused_by_every_tool(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_builder(tmp_path, paths=["**"]) as builder:
            (builder.root / "src/a").write_bytes(b"a\r\n")
            (tmp_path / "x").write_text("outside")
            before = everything(builder.root)
            for path, code in SPELLINGS.items():
                for tool, more in calls_with(path):
                    assert await refused(builder, tool, more) == code, (tool, path[:40])
            assert everything(builder.root) == before
            assert (tmp_path / "x").read_text() == "outside"

    run(use())


@pytest.mark.clause("S12")
def test_a_path_that_only_looks_like_traversal_is_an_ordinary_name(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_builder(tmp_path, paths=["**"]) as builder:
            (tmp_path / "x").write_text("outside")
            for path in HARMLESS:
                got = await refused(builder, "read_file", {"path": path})
                assert got in ("PATH_NOT_FOUND", "FILE_NOT_FOUND"), path
                with suppress(AssertionError):
                    await builder.fails("write_file", path=path, content="x", make_folders=True)
            assert sorted(path.name for path in tmp_path.iterdir()) == ["state", "work", "x"]
            assert (tmp_path / "x").read_text() == "outside"

    run(use())


def make_odd(root: Path, outside: Path) -> None:
    """Create special files of every kind."""
    outside.mkdir()
    (outside / "f").write_text("outside")
    (root / "src/a").write_bytes(b"a\r\n")
    (root / "src/folder").mkdir()
    (root / "src/to_file").symlink_to(outside / "f")
    (root / "src/to_folder").symlink_to(outside)
    (root / "src/relative").symlink_to("../../outside/f")
    (root / "src/dangling").symlink_to(outside / "absent")
    (root / "src/loop").symlink_to("loop")
    (root / "src/inside").symlink_to("a")
    os.mkfifo(root / "src/fifo")
    (root / "src/binary").write_bytes(b"\xff\xfe\x00")
    with (root / "src/huge").open("wb") as huge:
        huge.truncate(1 << 30)
    with suppress(PermissionError):  # only root can create devices
        os.mknod(root / "src/device", 0o666 | stat.S_IFCHR, os.makedev(1, 3))


TARGETS: list[tuple[str, str, str]] = [
    # path, code for reading, code for changing
    ("src/to_file", OUT, OUT),
    ("src/to_folder/f", OUT, OUT),
    ("src/relative", OUT, OUT),
    ("src/dangling", OUT, OUT),
    ("src/loop", "FILE_READ_FAILED", "FILE_WRITE_FAILED"),
    ("src/fifo", "FILE_READ_FAILED", "FILE_READ_FAILED"),
    ("src/device", "FILE_READ_FAILED", "FILE_READ_FAILED"),
    ("src/folder", "FILE_READ_FAILED", "FILE_READ_FAILED"),
    ("src/huge", "UNKNOWN_TOOL_FAILURE", "UNKNOWN_TOOL_FAILURE"),
    ("src/a/x", "PATH_NOT_FOUND", "PATH_NOT_FOUND"),
]


@pytest.mark.slow
@pytest.mark.clause("S12")
def test_links_devices_and_large_files_are_neither_read_nor_changed(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_builder(tmp_path) as builder:
            make_odd(builder.root, tmp_path / "outside")
            before = everything(builder.root)
            for path, reading, changing in TARGETS:
                if not os.path.lexists(builder.root / path) and path == "src/device":
                    continue
                assert await refused(builder, "read_file", {"path": path}) == reading, path
                for tool, more in (
                    ("write_file", {"path": path, "content": "x", "previousHash": ZERO}),
                    ("move_file", {"path": path, "new_path": "src/new", "previousHash": ZERO}),
                    ("delete_file", {"path": path, "previousHash": ZERO}),
                ):
                    got = await refused(builder, tool, more)
                    assert got in {changing, reading}, (tool, path, got)
            assert everything(builder.root) == before
            assert (tmp_path / "outside/f").read_text() == "outside"

    run(use())


@pytest.mark.clause("S12")
def test_hard_links_are_changed_moved_and_deleted_without_touching_their_other_name(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_builder(tmp_path) as builder:
            for tool, more in (
                ("write_file", {"content": "new"}),
                ("move_file", {"new_path": "src/b"}),
                ("delete_file", {}),
            ):
                outside = tmp_path / f"outside-{tool}"
                outside.write_text("kept")
                (builder.root / "src/linked").unlink(missing_ok=True)
                (builder.root / "src/linked").hardlink_to(outside)
                await builder.do(tool, path="src/linked", previousHash=sha256(b"kept"), **more)
                assert outside.read_text() == "kept", tool

    run(use())


@pytest.mark.clause("S12")
def test_a_name_that_differs_only_in_case_counts_as_existing(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_builder(tmp_path) as builder:
            (builder.root / "src/Straße.py").write_bytes(b"")
            (builder.root / "src/a").write_bytes(b"")
            before = everything(builder.root)
            for name in ("STRASSE.py", "straße.PY", "strasse.py"):
                got = await refused(builder, "write_file", {"path": f"src/{name}", "content": "x"})
                assert got == "FILE_ALREADY_EXISTS", name
                moved = {"path": "src/a", "new_path": f"src/{name}", "previousHash": sha256(b"")}
                assert await refused(builder, "move_file", moved) == "FILE_ALREADY_EXISTS", name
            assert everything(builder.root) == before

    run(use())


@pytest.mark.clause("S12")
def test_a_patch_applies_once_with_the_line_ends_it_was_made_for(tmp_path: Path) -> None:
    crlf = "@@ -1,2 +1,2 @@\n one\r\n-two\r\n+TWO\r\n"

    async def use() -> None:
        async with open_builder(tmp_path) as builder:
            file = builder.root / "src/a"
            file.write_bytes(b"one\r\ntwo\r\n")
            told = {"path": "src/a", "previousHash": sha256(b"one\r\ntwo\r\n")}
            await builder.do("write_file", **told, patch=crlf)
            assert file.read_bytes() == b"one\r\nTWO\r\n"
            assert await refused(builder, "write_file", told | {"patch": crlf}) == "HASH_MISMATCH"
            again = {"path": "src/a", "previousHash": sha256(b"one\r\nTWO\r\n"), "patch": crlf}
            assert await refused(builder, "write_file", again) == "PATCH_APPLY_FAILED"
            for bad in ("", "two", "@@ -1 +1 @@\n", "@@ -1,9 +1 @@\n-one\n+x\n", "--- a\n+++ b\n", "@@ -x +y @@\n-a\n+b\n"):
                assert await refused(builder, "write_file", again | {"patch": bad}) == "PATCH_INVALID", bad
            assert file.read_bytes() == b"one\r\nTWO\r\n"

    run(use())


@pytest.mark.clause("S12")
def test_content_that_is_not_utf8_is_kept_as_it_is_and_never_patched(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_builder(tmp_path) as builder:
            file = builder.root / "src/b"
            file.write_bytes(b"\xff\xfe\r\n\x00")
            told = {"path": "src/b", "previousHash": sha256(file.read_bytes())}
            assert await refused(builder, "read_file", {"path": "src/b", "encoding": "utf-8"}) == "FILE_READ_FAILED"
            assert await refused(builder, "write_file", told | {"patch": "@@ -1 +1 @@\n-a\n+b\n"}) == "PATCH_APPLY_FAILED"
            assert (
                await refused(builder, "write_file", told | {"content": "=", "encoding": "base64"}) == "INVALID_INPUT_FORMAT"
            )
            assert file.read_bytes() == b"\xff\xfe\r\n\x00"

    run(use())


@pytest.mark.clause("S12")
def test_a_plan_and_approval_copied_from_another_workspace_permit_nothing(tmp_path: Path) -> None:
    """Created and approved by the same server with the same key: only the workspace differs."""

    async def use() -> None:
        home, other = tmp_path / "work", tmp_path / "other"
        (other / "src").mkdir(parents=True)
        async with open_harness(tmp_path, roots=[str(home), str(other)]) as harness:
            planner = await harness.begin(PLANNER, "ANTIGRAVITY")
            plan_hash = await harness.approved(planner)
            shutil.copytree(home / "docs", other / "docs")
            builder = await harness.begin(BUILDER, "WINDSURF", other)
            base = {"session_id": builder, "plan_hash": plan_hash, "phase_id": "PHASE_1"}
            got = await harness.code(BUILDER, "write_file", **base, path="src/a", content="x")
            assert got == ("PLAN_ENFORCEMENT_FAILED", "other_workspace")
            assert list((other / "src").iterdir()) == []
            last = [each for each in harness.recorder.records if each["kind"] == "outcome"][-1]
            assert last["error_code"] == "PLAN_ENFORCEMENT_FAILED"

    run(use())


@pytest.mark.clause("S12")
@pytest.mark.parametrize("how", ["expired", "text", "hash_line", "approval"])
def test_an_expired_or_tampered_plan_permits_nothing(tmp_path: Path, how: str) -> None:
    async def use() -> None:
        async with open_builder(tmp_path, expires_in_hours=1) as builder:
            plan = builder.root / f"docs/plans/{builder.plan_hash}.md"
            approval = plan.with_name(f"{builder.plan_hash}.approval.json")
            if how == "expired":
                builder.harness.clock.seconds += 3601
            if how == "text":
                plan.write_text(plan.read_text().replace("src/**", "**"))
            if how == "hash_line":
                plan.write_text(plan.read_text().replace(builder.plan_hash, ZERO))
            if how == "approval":
                approval.write_text(approval.read_text().replace("reviewer", "builder"))
            expected = "PLAN_NOT_APPROVED" if how == "approval" else "PLAN_ENFORCEMENT_FAILED"
            assert await refused(builder, "write_file", {"path": "src/a", "content": "x"}) == expected
            assert list((builder.root / "src").iterdir()) == []

    run(use())
