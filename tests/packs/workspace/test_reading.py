"""Reading over the wire: text, binary, ranges, lists, search; every code of the path and file groups by its cause."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from tests.packs.workspace.harness import PLANNER, open_harness, run, sha256

UNPRIVILEGED = Path(__file__).with_name("unprivileged.py")
TEXT = "eins\nzwei\r\ndrei ü\n".encode()


def whole(path: str, data: bytes, **changes: Any) -> dict[str, Any]:
    return {
        "path": path,
        "encoding": "utf-8",
        "content": data.decode("utf-8", "replace"),
        "size": len(data),
        "sha256": sha256(data),
        "offset": 0,
        "count": len(data),
        "start_line": None,
        "line_count": None,
        "total_lines": None,
    } | changes


def test_a_file_is_read_whole_by_lines_and_by_bytes_as_text_or_base64(tmp_path: Path) -> None:
    binary = b"\x00\xff\x01"

    async def use() -> None:
        async with open_harness(tmp_path) as harness:
            (harness.root / "a.txt").write_bytes(TEXT)
            (harness.root / "b.bin").write_bytes(binary)
            (harness.root / "empty").write_bytes(b"")
            handle = await harness.begin(PLANNER, "ANTIGRAVITY")

            async def read(path: str, **more: Any) -> Any:
                return await harness.call(PLANNER, "read_file", session_id=handle, path=path, **more)

            assert await read("./a.txt") == whole("a.txt", TEXT)
            assert await read("empty") == whole("empty", b"")
            lines = {"content": "zwei\r\n", "offset": 5, "count": 6, "start_line": 1, "line_count": 1, "total_lines": 3}
            assert await read("a.txt", start_line=1, line_count=1) == whole("a.txt", TEXT, **lines)
            part = {"content": "zwei", "offset": 5, "count": 4, "sha256": None}
            assert await read("a.txt", offset=5, count=4) == whole("a.txt", TEXT, **part)
            past = {"content": "", "offset": 500, "count": 0, "sha256": None}
            assert await read("a.txt", offset=500) == whole("a.txt", TEXT, **past)
            coded = {"encoding": "base64", "content": b64encode(binary).decode()}
            assert await read("b.bin") == whole("b.bin", binary, **coded)
            as_asked = {"encoding": "base64", "content": b64encode(TEXT).decode()}
            assert await read("a.txt", encoding="base64") == whole("a.txt", TEXT, **as_asked)
            assert await harness.code(PLANNER, "read_file", session_id=handle, path="b.bin", encoding="utf-8") == (
                "FILE_READ_FAILED",
                "not_utf8",
            )
            both = {"offset": 1, "start_line": 1}
            assert (await harness.code(PLANNER, "read_file", session_id=handle, path="a.txt", **both))[
                0
            ] == "INVALID_INPUT_VALUE"

    run(use())


def test_a_file_of_a_gigabyte_is_read_only_in_parts(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_harness(tmp_path) as harness:
            with (harness.root / "huge").open("wb") as huge:
                huge.truncate(1 << 30)
            handle = await harness.begin(PLANNER, "ANTIGRAVITY")
            assert (await harness.code(PLANNER, "read_file", session_id=handle, path="huge"))[0] == "UNKNOWN_TOOL_FAILURE"
            assert (await harness.code(PLANNER, "read_file", session_id=handle, path="huge", start_line=1))[0] == (
                "UNKNOWN_TOOL_FAILURE"
            )
            part = await harness.call(PLANNER, "read_file", session_id=handle, path="huge", offset=(1 << 30) - 2, count=9)
            assert (part["content"], part["size"], part["sha256"]) == ("\x00\x00", 1 << 30, None)

    run(use())


@pytest.mark.clause("S12")
def test_every_code_of_a_path_has_its_own_cause(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_harness(tmp_path) as harness:
            root, outside = harness.root, tmp_path / "outside"
            outside.mkdir()
            (outside / "secret").write_text("s")
            (root / "src").mkdir()
            (root / "file").write_text("x")
            (root / "out").symlink_to(outside)
            (root / "leak").symlink_to(outside / "secret")
            (root / "up").symlink_to("../outside/secret")
            (root / "loop").symlink_to("loop")
            os.mkfifo(root / "fifo")
            with socket.socket(socket.AF_UNIX) as made:
                os.chdir(root)
                made.bind("sock")
            handle = await harness.begin(PLANNER, "ANTIGRAVITY")
            causes = {
                "": "INVALID_PATH",
                "a\x00b": "INVALID_PATH",
                "x" * 300: "INVALID_PATH",
                "d/" * 3000: "INVALID_PATH",
                "../x": "PATH_TRAVERSAL_BLOCKED",
                "src/../../x": "PATH_TRAVERSAL_BLOCKED",
                "src/..": "PATH_TRAVERSAL_BLOCKED",
                "..\\x": "PATH_TRAVERSAL_BLOCKED",
                "/etc/passwd": "OUTSIDE_WORKSPACE",
                f"{root}-other/file": "OUTSIDE_WORKSPACE",
                "file:///etc/passwd": "OUTSIDE_WORKSPACE",
                "file://example.org/file": "INVALID_PATH",
                "file:///%ff": "INVALID_PATH",
                f"{root}/../x": "PATH_TRAVERSAL_BLOCKED",
                f"file://{root}/%2e%2e/x": "PATH_TRAVERSAL_BLOCKED",
                str(root / "out" / "secret"): "OUTSIDE_WORKSPACE",
                "C:\\x": "OUTSIDE_WORKSPACE",
                "out/secret": "OUTSIDE_WORKSPACE",
                "leak": "OUTSIDE_WORKSPACE",
                "up": "OUTSIDE_WORKSPACE",
                "nowhere/x": "PATH_NOT_FOUND",
                "file/x": "PATH_NOT_FOUND",
                "absent": "FILE_NOT_FOUND",
                "src/absent": "FILE_NOT_FOUND",
                "..absent": "FILE_NOT_FOUND",
                "%2e%2e/x": "PATH_NOT_FOUND",
                "src": "FILE_READ_FAILED",
                ".": "FILE_READ_FAILED",
                "fifo": "FILE_READ_FAILED",
                "sock": "FILE_READ_FAILED",
                "loop": "FILE_READ_FAILED",
            }
            for path, code in causes.items():
                assert (await harness.code(PLANNER, "read_file", session_id=handle, path=path))[0] == code, path[:20]
            assert (await harness.code(PLANNER, "list_files", session_id=handle, path="file"))[0] == "PATH_NOT_FOUND"
            assert (await harness.code(PLANNER, "list_files", session_id=handle, path="nowhere"))[0] == "PATH_NOT_FOUND"
            assert (await harness.code(PLANNER, "list_files", session_id=handle, path="out"))[0] == "OUTSIDE_WORKSPACE"
            assert (await harness.code(PLANNER, "search_text", session_id=handle, query="s", path="leak"))[0] == (
                "OUTSIDE_WORKSPACE"
            )

    here = Path.cwd()
    try:
        run(use())
    finally:
        os.chdir(here)


@pytest.mark.clause("S12")
def test_every_code_of_the_arguments_has_its_own_cause(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_harness(tmp_path) as harness:
            handle = await harness.begin(PLANNER, "ANTIGRAVITY")
            causes: list[tuple[dict[str, Any], str]] = [
                ({}, "MISSING_REQUIRED_FIELD"),
                ({"path": 1}, "INVALID_INPUT_TYPE"),
                ({"path": "a", "count": 0}, "INVALID_INPUT_VALUE"),
                ({"path": "a", "encoding": "utf-16"}, "INVALID_INPUT_VALUE"),
                ({"path": "a", "unknown": 1}, "INVALID_INPUT_VALUE"),
            ]
            for arguments, code in causes:
                assert (await harness.code(PLANNER, "read_file", session_id=handle, **arguments))[0] == code
            assert (await harness.code(PLANNER, "read_plan", session_id=handle, plan_hash="../../x"))[
                0
            ] == "INVALID_INPUT_FORMAT"

    run(use())


@pytest.mark.clause("S12")
@pytest.mark.parametrize(
    ("tool", "path", "code"),
    [
        ("read_file", "locked.txt", "FILE_READ_FAILED permission"),
        ("read_file", "closed/x", "FILE_READ_FAILED permission"),
        ("list_files", "closed", "FILE_READ_FAILED permission"),
        ("write_file", "docs/reports/x.md", "FILE_WRITE_FAILED permission"),
    ],
)
def test_a_missing_permission_has_its_code_for_an_unprivileged_user(tool: str, path: str, code: str) -> None:
    # Not below pytest's own folder: every pytest run of the same user closes that to others.
    with tempfile.TemporaryDirectory(prefix="strictwire-reading-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "locked.txt").write_text("x")
        (folder / "locked.txt").chmod(0)
        (folder / "closed").mkdir(mode=0)
        command = [sys.executable, str(UNPRIVILEGED), name, tool, path]
        printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.strip()
        (folder / "closed").chmod(0o755)

    assert printed == code


def test_a_folder_is_listed_in_pages_and_links_are_not_followed(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_harness(tmp_path) as harness:
            (harness.root / "a").mkdir()
            (harness.root / "a" / "x").write_text("xx")
            (harness.root / "b").symlink_to("/")
            (harness.root / "c").write_text("c")
            handle = await harness.begin(PLANNER, "ANTIGRAVITY")
            entries = [
                {"path": "a", "kind": "folder", "size": None},
                {"path": "a/x", "kind": "file", "size": 2},
                {"path": "b", "kind": "link", "size": None},
                {"path": "c", "kind": "file", "size": 1},
            ]

            async def page(**more: Any) -> Any:
                return await harness.call(PLANNER, "list_files", session_id=handle, **more)

            assert await page() == {"items": [entries[0], *entries[2:]], "nextCursor": None, "unnameable": 0, "ignored": 0}
            first = await page(recursive=True, pageSize=3)
            second = await page(recursive=True, pageSize=3, cursor=first["nextCursor"])
            assert first["items"] + second["items"] == entries
            assert second["nextCursor"] is None
            (harness.root / "d").write_text("d")
            stale = {"session_id": handle, "recursive": True, "cursor": first["nextCursor"]}
            assert (await harness.code(PLANNER, "list_files", **stale))[0] == "HASH_MISMATCH"
            assert (await harness.code(PLANNER, "list_files", session_id=handle, cursor="x"))[0] == "INVALID_INPUT_VALUE"

    run(use())


def test_a_literal_text_is_found_and_skipped_files_are_counted(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_harness(tmp_path) as harness:
            (harness.root / "src").mkdir()
            (harness.root / ".git").mkdir()
            (harness.root / ".git" / "x").write_text("a.b")
            (harness.root / "src" / "one.py").write_text("axb\n  a.b and a.b\nA.B\n")
            (harness.root / "two.bin").write_bytes(b"a.b\x00")
            handle = await harness.begin(PLANNER, "ANTIGRAVITY")

            async def search(**more: Any) -> Any:
                return await harness.call(PLANNER, "search_text", session_id=handle, **more)

            hit = {"path": "src/one.py", "line": 1, "character": 2, "text": "  a.b and a.b"}
            upper = {"path": "src/one.py", "line": 2, "character": 0, "text": "A.B"}
            skipped = {"binary": 1, "large": 0, "unreadable": 0, "ignored": 1}
            exact = {"items": [hit], "nextCursor": None, "skipped": skipped, "complete": True}
            assert await search(query="a.b") == exact
            assert (await search(query="a.b", ignore_case=True))["items"] == [hit, upper]
            assert (await search(query="a.b", path="src/one.py"))["items"] == [hit]
            assert (await search(query="nothing"))["items"] == []

    run(use())
