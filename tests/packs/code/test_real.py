"""The tools with real engines: ty, TypeScript 7 and clangd."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.live import StdioProcess, modern
from tests.packs.code.real import PATIENCE, VARIABLES, Real, open_real, places, run_real, write

from strictwire.packs.code.service import ROOT_MISSING
from strictwire.transport.memory import CallFailed

PROJECT = {
    "pkg/__init__.py": "",
    "pkg/shapes.py": "class Shape:\n    def area(self) -> float:\n        return 0.0\n\n\n"
    "class Circle(Shape):\n    def area(self) -> float:\n        return 3.0\n",
    "pkg/use.py": "import os\n\nfrom pkg.shapes import Circle, Shape\n\n\ndef total(shapes: list[Shape]) -> float:\n"
    "    return sum(each.area() for each in shapes)\n\n\nprint(total([Circle()]), os.getcwd())\n",
    "pkg/dynamic.py": 'def call(shape):\n    return getattr(shape, "area")()\n',
    "broken.py": "value: int = 'text'\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path / "project", PROJECT)


@pytest.mark.clause("G12", "G16")
def test_every_tool_answers_with_a_real_engine(root: Path) -> None:
    async def story(real: Real) -> dict[str, Any]:
        at_total = {"uri": (root / "pkg/use.py").as_uri(), "position": {"line": 5, "character": 5}}
        return {
            "definition": await real.ready("definition", symbol="total"),
            "references": await real.ready("references", **at_total),
            "hover": await real.ready("hover", **at_total),
            "documentSymbols": await real.ready("documentSymbols", uri=(root / "pkg/shapes.py").as_uri()),
            "workspaceSymbols": await real.ready("workspaceSymbols", query="Circle"),
            "diagnostics_document": await real.ready("diagnostics_document", uri=(root / "broken.py").as_uri()),
            "diagnostics_workspace": await real.ready("diagnostics_workspace"),
            "callers": await real.ready("callers", **at_total),
            "implementations": await real.ready("implementations", symbol="Shape.area"),
            "type_definition": await real.ready("type_definition", symbol="Circle.area"),
            "outline": await real.ready("outline"),
            "search": await real.ready("search", query=r"class \w+", regex=True),
        }

    found = run_real(story, root)

    assert places(found["definition"], root, "locations") == [("pkg/use.py", 5, 4)]
    assert places(found["references"], root) == [("pkg/use.py", 9, 6)]
    assert "total" in found["hover"]["contents"][0]["value"]
    assert [each["name"] for each in found["documentSymbols"]["symbols"]] == ["Shape", "area", "Circle", "area"]
    assert [each["name"] for each in found["workspaceSymbols"]["items"]] == ["Circle"]
    assert len(found["diagnostics_document"]["diagnostics"]) == 1
    assert [each["uri"] for each in found["diagnostics_workspace"]["items"]] == [(root / "broken.py").as_uri()]
    assert places(found["implementations"], root) == [("pkg/shapes.py", 1, 8), ("pkg/shapes.py", 6, 8)]
    assert places(found["search"], root) == [("pkg/shapes.py", 0, 0), ("pkg/shapes.py", 5, 0)]
    assert {each["completeness"] for each in found.values()} == {"complete"}
    assert {
        engine["name"] for name, each in found.items() for engine in each["engines"] if name not in ("outline", "search")
    } == {"ty"}
    assert [each["name"] for each in found["callers"]["items"]] != []


def test_a_use_that_the_engine_cannot_see_makes_references_partial_and_is_returned_as_a_mention(root: Path) -> None:
    at = {"uri": (root / "pkg/shapes.py").as_uri(), "position": {"line": 1, "character": 8}}
    answer = run_real(lambda real: real.ready("references", **at, includeUnconfirmed=True), root)

    assert ("pkg/dynamic.py", 1, 27) in places(answer, root) + places(answer, root, "mentions")
    assert answer["completeness"] == "partial"
    assert answer["unconfirmed"] == len(answer["mentions"]) > 0


def test_callers_of_a_class_are_those_who_make_one(root: Path) -> None:
    answer = run_real(lambda real: real.ready("callers", symbol="Circle"), root)

    assert [(each["name"], len(each["calls"])) for each in answer["items"]] == [("use", 1)]


def test_a_definition_in_the_standard_library_is_counted_and_not_shown(root: Path) -> None:
    at = {"uri": (root / "pkg/use.py").as_uri(), "position": {"line": 9, "character": 29}}
    answer = run_real(lambda real: real.ready("definition", **at), root)

    assert (answer["locations"], answer["outside"], answer["completeness"]) == ([], 1, "complete")


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("definition", {"symbol": "total"}),
    ("references", {"symbol": "Shape", "pageSize": 1}),
    ("hover", {"symbol": "total"}),
    ("documentSymbols", {"uri": "{root}/pkg/shapes.py"}),
    ("workspaceSymbols", {"query": "area", "pageSize": 1}),
    ("diagnostics_document", {"uri": "{root}/broken.py"}),
    ("diagnostics_workspace", {"pageSize": 1}),
    ("callers", {"symbol": "Shape.area"}),
    ("implementations", {"symbol": "Shape.area", "pageSize": 1}),
    ("type_definition", {"symbol": "Circle.area"}),
    ("outline", {}),
    ("search", {"query": "area", "pageSize": 1}),
    ("hover", {"uri": "file:///etc/passwd", "position": {"line": 0, "character": 0}}),
]


def given(arguments: dict[str, Any], root: Path) -> dict[str, Any]:
    """Arguments with the URIs of the root."""
    return {
        name: value.replace("{root}", root.as_uri()) if isinstance(value, str) else value
        for name, value in arguments.items()
    }


async def tell_all(real: Real, root: Path) -> list[bytes]:
    """The bytes of every call, once the engine is ready."""
    answers = []
    for operation, arguments in CALLS:
        while b'"warming"' in (raw := await real.bytes(operation, **given(arguments, root))):
            await asyncio.sleep(0.05)
        answers.append(raw)
    return answers


def engine_pids() -> list[int]:
    """Engines that this process started."""
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    return [int(pid) for pid in children if b"ty" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0]]


@pytest.mark.slow
def test_the_same_call_gives_the_same_bytes_a_hundred_times_and_after_restarts(root: Path) -> None:
    async def story() -> tuple[list[bytes], list[list[bytes]], list[bytes], list[bytes]]:
        async with open_real(root) as real:
            await tell_all(real, root)
            first = await tell_all(real, root)
            again = [await tell_all(real, root) for _ in range(100)]
            for pid in engine_pids():
                os.kill(pid, signal.SIGKILL)
            after_crash = await settled(real)
        async with open_real(root) as real:
            after_restart = await tell_all(real, root)
        return first, again, after_crash, after_restart

    async def settled(real: Real) -> list[bytes]:
        """The answers once the engine is up again; until then it is unavailable."""
        while True:
            answers = await tell_all(real, root)
            if not any(b"PROVIDER_UNAVAILABLE" in raw for raw in answers):
                return answers
            await asyncio.sleep(0.2)

    first, again, after_crash, after_restart = asyncio.run(asyncio.wait_for(story(), 300))

    assert [answers for answers in again if answers != first] == []
    assert after_crash == first
    assert after_restart == first


@pytest.mark.slow
def test_a_server_that_was_killed_and_started_again_gives_the_same_bytes(root: Path) -> None:
    settings = root.parent / "strictwire.toml"
    settings.write_text(f'[packs.code]\nroots = ["{root}"]\n')

    def life() -> list[bytes]:
        with StdioProcess("--pack=code", "--config", str(settings), env={"PATH": VARIABLES["PATH"]}) as server:
            return [asked(server, operation, given(arguments, root)) for operation, arguments in CALLS]

    def asked(server: StdioProcess, operation: str, arguments: dict[str, Any]) -> bytes:
        while True:
            server.send(modern(1, "tools/call", {"name": f"code_{operation}", "arguments": arguments}))
            raw = server.line(PATIENCE)
            if b'"warming"' not in raw:
                return raw

    assert life() == life()


def test_a_walk_through_all_pages_is_the_unpaged_set(root: Path) -> None:
    async def story(real: Real) -> tuple[list[Any], list[Any]]:
        (whole,) = await walk(real, 200)
        return whole, [item for page in await walk(real, 1) for item in page]

    async def walk(real: Real, size: int) -> list[list[Any]]:
        await real.ready("references", symbol="Shape")
        pages, cursor = [], None
        while True:
            flags = {"includeDeclaration": True, "includeUnconfirmed": True}
            page = await real.call("references", symbol="Shape", **flags, pageSize=size, cursor=cursor)
            pages.append(page["items"] + page["mentions"])
            cursor = page["nextCursor"]
            if cursor is None:
                return pages

    whole, parts = run_real(story, root)

    assert len(whole) >= 3
    assert parts == whole


def git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


def test_edits_new_files_deleted_files_and_a_checkout_are_seen_by_the_next_call(root: Path) -> None:
    git(root, "init")
    git(root, "add", ".")
    git(root, "commit", "-m", "one")
    git(root, "branch", "old")

    async def story(real: Real) -> list[Any]:
        async def uses() -> list[Any]:
            return places(await real.ready("references", symbol="total", includeDeclaration=True), root)

        seen = [await uses()]
        use = root / "pkg/use.py"
        use.write_text("\n" + use.read_text())
        seen.append(await uses())
        (root / "pkg/more.py").write_text("from pkg.use import total\n")
        seen.append(await uses())
        git(root, "add", ".")
        git(root, "commit", "-m", "two")
        (root / "pkg/more.py").unlink()
        seen.append(await uses())
        git(root, "checkout", "--force", "old")
        seen.append(await uses())
        return seen

    first = [("pkg/use.py", 5, 4), ("pkg/use.py", 9, 6)]
    moved = [("pkg/use.py", 6, 4), ("pkg/use.py", 10, 6)]

    assert run_real(story, root) == [first, moved, [("pkg/more.py", 0, 20), *moved], moved, first]


def test_a_cursor_is_stale_after_an_edit(root: Path) -> None:
    async def story(real: Real) -> str:
        await real.ready("references", symbol="Shape")
        cursor = (await real.call("references", symbol="Shape", pageSize=1))["nextCursor"]
        (root / "pkg/use.py").write_text("x = 1\n")
        return await real.code_of(
            "references", uri=(root / "pkg/shapes.py").as_uri(), position={"line": 0, "character": 6}, cursor=cursor
        )

    assert run_real(story, root) == "CURSOR_STALE"


MIXED = {
    "app/main.ts": "import { greet } from './lib';\n\ngreet('x');\n",
    "app/lib.ts": "export function greet(name: string): string {\n  return name;\n}\n",
    "app/tsconfig.json": '{"compilerOptions": {"strict": true}, "include": ["*.ts"]}\n',
    "native/lib.c": "int twice(int x) { return 2 * x; }\n\nint main(void) { return twice(2); }\n",
    "tool.py": "def helper():\n    return 1\n\n\nhelper()\n",
    "notes.go": "package main\n\nfunc Only() {}\n",
}


@pytest.mark.slow  # TypeScript comes with ./scripts/npm
def test_several_languages_and_roots_are_answered_each_by_its_engine(tmp_path: Path) -> None:
    first, second = (
        write(tmp_path / "one", MIXED),
        write(tmp_path / "two", {"other.py": "def other():\n    pass\n\n\nother()\n"}),
    )

    async def story(real: Real) -> list[Any]:
        asked = [
            (first / "app/lib.ts", 0, 17),
            (first / "native/lib.c", 0, 5),
            (first / "tool.py", 0, 5),
            (second / "other.py", 0, 5),
        ]
        answers = [
            await real.ready("references", uri=path.as_uri(), position={"line": line, "character": character})
            for path, line, character in asked
        ]
        symbols = await real.ready("documentSymbols", uri=(first / "notes.go").as_uri())
        return [*answers, symbols]

    script, native, tool, other, go = run_real(story, first, second)

    assert ("app/main.ts", 2, 0) in places(script, first)
    assert places(native, first) == [("native/lib.c", 2, 24)]
    assert places(tool, first) == [("tool.py", 4, 0)]
    assert places(other, second) == [("other.py", 4, 0)]
    assert [each["engines"][0]["name"] for each in (script, native, tool, other, go)] == [
        "typescript", "clangd", "ty", "ty", "tree-sitter",
    ]  # fmt: skip
    assert [each["name"] for each in go["symbols"]] == ["Only"]


def test_a_language_whose_engine_is_switched_off_is_unavailable_but_has_symbols(root: Path) -> None:
    async def story(real: Real) -> tuple[str, list[str]]:
        uri = (root / "pkg/shapes.py").as_uri()
        symbols = await real.call("documentSymbols", uri=uri)
        return await real.code_of("definition", uri=uri, position={"line": 0, "character": 6}), [
            each["name"] for each in symbols["symbols"]
        ]

    assert run_real(story, root, languages={"python": ""}) == ("PROVIDER_UNAVAILABLE", ["Shape", "area", "Circle", "area"])


def test_the_drop_in_serves_the_names_and_the_short_texts_of_the_reference(root: Path) -> None:
    at = {"uri": (root / "pkg/use.py").as_uri(), "position": {"line": 9, "character": 6}}

    async def story(real: Real) -> Any:
        while True:
            # The drop-in has the reference's limit of two seconds, which may end before the engine has started.
            with suppress(CallFailed):
                result = await real.client.call_tool("vscode_lsp_definition", at)
                if result["structuredContent"]["locations"]:
                    return result

    result = run_real(story, root, drop_in=True)

    assert set(result["structuredContent"]) == {"locations", "summary"}
    assert result["content"] == [{"type": "text", "text": "Found 1 definition."}]
    assert result["_meta"]["strictwire/engines"][0]["name"] == "ty"


def test_a_search_that_leaves_out_a_large_file_is_partial(tmp_path: Path) -> None:
    root = write(tmp_path, {"a.py": "needle = 1\n", "large.txt": "needle\n" * 1_300_000})

    answer = run_real(lambda real: real.call("search", query="needle"), root, warm=False)

    assert (places(answer, root), answer["completeness"], answer["note"]) == (
        [("a.py", 0, 0)],
        "partial",
        "1 file was not searched in full: larger than 8 MB, not readable, or with lines too long for the expression",
    )


def test_nothing_is_complete_while_a_root_is_missing(tmp_path: Path) -> None:
    root = write(tmp_path / "root", {"a.py": "def used(): ...\nused()\n"})
    asked: list[tuple[str, dict[str, Any]]] = [
        ("search", {"query": "used"}),
        ("workspaceSymbols", {"query": "used"}),
        ("diagnostics_workspace", {}),
        ("outline", {}),
        ("references", {"symbol": "used"}),
    ]

    async def story(real: Real) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        root.rename(tmp_path / "elsewhere")
        missing = [(await real.call(operation, **arguments)) for operation, arguments in asked]
        (tmp_path / "elsewhere").rename(root)
        return missing, await real.ready("references", symbol="used")

    missing, back = run_real(story, root, warm=False)

    assert [(each["completeness"], each["note"]) for each in missing] == [("partial", ROOT_MISSING)] * len(asked)
    assert (places(back, root), back["completeness"]) == ([("a.py", 1, 0)], "complete")


def test_an_outline_that_leaves_out_a_file_is_partial(tmp_path: Path) -> None:
    root = write(tmp_path, {"a.py": "class A: ...\n", "large.py": "#" * 9_000_000})
    os.mkfifo(root / "pipe.py")
    names = ["", "large.py", "pipe.py", "a.py"]

    async def story(real: Real) -> list[tuple[str, str]]:
        answers = [await real.call("outline", **({"uri": (root / name).as_uri()} if name else {})) for name in names]
        return [(each["completeness"], each.get("note", "")) for each in answers]

    unread = ("partial", "1 source file could not be read")
    assert run_real(story, root, warm=False) == [unread, unread, unread, ("complete", "")]


def test_an_integer_that_is_written_as_a_float_is_an_integer(tmp_path: Path) -> None:
    root = write(tmp_path, {"a.py": "def used(): ...\nused()\n"})
    uri = (root / "a.py").as_uri()

    async def story(real: Real) -> list[dict[str, Any]]:
        integers = await real.ready("references", uri=uri, position={"line": 1, "character": 0}, pageSize=5)
        return [integers, await real.ready("references", uri=uri, position={"line": 1.0, "character": 0.0}, pageSize=5.0)]

    integers, floats = run_real(story, root, warm=False)

    assert (places(integers, root), floats) == ([("a.py", 1, 0)], integers)


def test_a_name_in_a_folder_is_not_found(tmp_path: Path) -> None:
    root = write(tmp_path, {"a.py": "def used(): ...\n"})

    assert (
        run_real(lambda real: real.code_of("definition", symbol="used", uri=root.as_uri()), root, warm=False) == "NOT_FOUND"
    )


def test_a_glob_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    async def story(real: Real) -> Any:
        with pytest.raises(CallFailed) as caught:
            await real.call("search", query="x", glob="!")
        return caught.value.error["data"]["issues"]

    message = "glob cannot be used: not a glob; use patterns as in .gitignore, such as *.py or src/**"
    assert run_real(story, write(tmp_path, {"a.py": ""}), warm=False) == [
        {"path": "/glob", "keyword": "format", "message": message}
    ]
