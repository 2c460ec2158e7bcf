"""Real engines on small projects: what is on disk is in the next answer, and every answer says who gave it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.packs.code.engines.bench import PATIENCE, run
from tests.packs.code.engines.real import PYTHON_ENGINES, VARIABLES, opened, place_of, references, spots
from tests.packs.code.test_files import git, write

from strictwire.packs.code.engine import CodeBase, Completeness, EngineMissing, EngineStatus
from strictwire.packs.code.open import open_codebase, read_options

pytestmark = pytest.mark.slow

COMPLETE, PARTIAL, WARMING = Completeness.COMPLETE, Completeness.PARTIAL, Completeness.WARMING

PYTHON = {
    "pyproject.toml": "[project]\nname = 'p'\nversion = '1'\n",
    "lib.py": "def target() -> int:\n    return 1\n",
    "use.py": "from lib import target\n\ntarget()\n",
}
SCRIPT = {
    "tsconfig.json": '{"include": ["**/*.ts", "**/*.js"], "compilerOptions": {"allowJs": true, "noEmit": true}}',
    "lib.ts": "export function target(): number {\n  return 1;\n}\n",
    "use.ts": "import { target } from './lib';\n\ntarget();\n",
}
C = {
    "lib.h": "#pragma once\nint target(void);\n",
    "lib.c": '#include "lib.h"\nint target(void) { return 1; }\n',
    "use.c": '#include "lib.h"\nint use(void) { return target(); }\n',
}


def write_c(root: Path, files: dict[str, str]) -> Path:
    """C files, and the commands that compile them."""
    write(root, files)
    commands = [
        {"directory": str(root), "file": path.name, "arguments": ["cc", "-c", path.name]}
        for path in sorted(root.glob("*.c"))
    ]
    (root / "compile_commands.json").write_text(json.dumps(commands))
    return root


async def until_ready(code: CodeBase, name: str, path: Path, text: str) -> None:
    """Ask until the engine has indexed everything; an engine that never says so is not waited for."""
    async with asyncio.timeout(3 * PATIENCE):
        while (await references(code, name, place_of(path, text, name)))[0].completeness is WARMING:
            await asyncio.sleep(0.05)


async def found(
    code: CodeBase, root: Path, file: str, text: str
) -> tuple[set[tuple[str, int]], set[tuple[str, int]], Completeness]:
    """References of `target` that the engine confirmed, those and the unconfirmed ones, and the verdict."""
    await until_ready(code, "target", root / file, text)
    _, confirmed, checked = await references(code, "target", place_of(root / file, text, "target"))
    on_disk = {span for span in confirmed if span.path.exists()}
    mentions = {(str(each.path.relative_to(root)), each.line) for each in checked.unconfirmed}
    return spots(root, on_disk), spots(root, on_disk) | mentions, checked.completeness


@pytest.mark.parametrize("engine", PYTHON_ENGINES)
def test_python_engines_see_every_change_or_say_that_they_do_not(tmp_path: Path, engine: str) -> None:
    """Edits, new files, deleted files and a checkout. What an engine misses is unconfirmed, and the answer not complete."""
    root = write(tmp_path, PYTHON)
    git(root, "init", "--quiet")
    git(root, "add", "-A")
    git(root, "commit", "--quiet", "-m", "one")
    start = {("lib.py", 0), ("use.py", 0), ("use.py", 2)}
    steps: list[tuple[dict[str, str], str, set[tuple[str, int]]]] = [
        ({}, "", start),
        ({"use.py": "from lib import target\n\n\ntarget()\n"}, "", {("lib.py", 0), ("use.py", 0), ("use.py", 3)}),
        (
            {"pkg/__init__.py": "", "pkg/new.py": "import lib\nlib.target()\n"},
            "",
            {("lib.py", 0), ("use.py", 0), ("use.py", 3), ("pkg/new.py", 1)},
        ),
        ({}, "pkg/new.py", {("lib.py", 0), ("use.py", 0), ("use.py", 3)}),
        ({}, "checkout", start),
    ]

    async def scenario() -> list[tuple[bool, bool]]:
        outcomes = []
        async with opened(root, python=engine) as code:
            for files, deleted, expected in steps:
                write(root, files)
                if deleted == "checkout":
                    git(root, "checkout", "--quiet", "--", ".")
                elif deleted:
                    (root / deleted).unlink()
                confirmed, all_of_them, verdict = await found(code, root, "lib.py", "def target")
                outcomes.append((expected <= all_of_them, verdict is not COMPLETE or confirmed == expected))
        return outcomes

    assert run(scenario) == [(True, True)] * len(steps)


def test_ty_sees_every_change_in_the_very_next_answer(tmp_path: Path) -> None:
    root = write(tmp_path, PYTHON)

    async def scenario() -> list[tuple[set[tuple[str, int]], Completeness]]:
        outcomes = []
        async with opened(root) as code:
            for number in range(20):
                write(root, {"use.py": "from lib import target\n" + "\n" * number + "target()\n"})
                _, confirmed, checked = await references(code, "target", place_of(root / "lib.py", "def target", "target"))
                outcomes.append((spots(root, confirmed), checked.completeness))
        return outcomes

    assert run(scenario) == [({("lib.py", 0), ("use.py", 0), ("use.py", number + 1)}, COMPLETE) for number in range(20)]


def test_typescript_and_javascript_are_served_by_one_engine(tmp_path: Path) -> None:
    root = write(tmp_path, SCRIPT)

    async def scenario() -> list[Any]:
        async with opened(root) as code:
            states = [(state.identity.name, state.identity.version, state.status) for state in await code.engines.states()]
            first = await found(code, root, "lib.ts", "function target")
            write(root, {"more.js": "const { target } = require('./lib');\ntarget();\n"})
            second = await found(code, root, "lib.ts", "function target")
            (symbols,) = await code.engines.ask_all("workspace/symbol", {"query": "target"}, seconds=PATIENCE)
            return [states, first, second[1], symbols.completeness, {each["name"] for each in symbols.value or []}]

    states, first, second, completeness, names = run(scenario)
    start = {("lib.ts", 0), ("use.ts", 0), ("use.ts", 2)}

    assert states == [("typescript", "7.0.2", EngineStatus.STOPPED)]
    assert first == (start, start, COMPLETE)
    assert second == start | {("more.js", 0), ("more.js", 1)}
    assert (completeness, names) == (COMPLETE, {"target"})


def test_clangd_waits_for_its_index_and_sees_changes(tmp_path: Path) -> None:
    root = write_c(tmp_path, C)
    start = {("lib.h", 1), ("lib.c", 1), ("use.c", 1)}

    async def scenario() -> list[Any]:
        async with opened(root) as code:
            first = await found(code, root, "lib.c", "int target")
            write_c(root, {"use.c": '#include "lib.h"\n\n\nint use(void) { return target(); }\n'})
            edited = await found(code, root, "lib.c", "int target")
            write_c(root, {"new.c": '#include "lib.h"\nint more(void) { return target(); }\n'})
            added = await found(code, root, "lib.c", "int target")
            (root / "new.c").unlink()
            deleted = await found(code, root, "lib.c", "int target")
            return [first, edited, added, deleted]

    moved = {("lib.h", 1), ("lib.c", 1), ("use.c", 3)}
    assert run(scenario) == [
        (start, start, COMPLETE),
        (moved, moved, COMPLETE),
        (moved | {("new.c", 1)}, moved | {("new.c", 1)}, COMPLETE),
        (moved, moved, COMPLETE),
    ]


def test_clangd_without_compile_commands_is_partial_and_says_why(tmp_path: Path) -> None:
    root = write(tmp_path, C)

    async def scenario() -> tuple[Any, str]:
        async with opened(root) as code:
            reply, _, checked = await references(code, "target", place_of(root / "lib.c", "int target", "target"))
            return checked.completeness, reply.note

    assert run(scenario) == (PARTIAL, "no compile_commands.json: clangd indexes open files alone")


@pytest.mark.parametrize("engine", PYTHON_ENGINES)
def test_python_diagnostics_name_the_mistake_and_forget_it_once_it_is_mended(tmp_path: Path, engine: str) -> None:
    root = write(tmp_path, PYTHON | {"bad.py": "def broken(:\n    pass\n"})

    async def scenario() -> list[bool]:
        async with opened(root, python=engine) as code:
            seen = []
            for text in (None, "def mended():\n    pass\n"):
                if text is not None:
                    write(root, {"bad.py": text})
                reply = await code.engines.ask(root / "bad.py", "textDocument/diagnostic", {}, seconds=PATIENCE)
                assert isinstance(reply.value, dict)
                seen.append(bool(reply.value["items"]))
            return seen

    assert run(scenario) == [True, False]


def test_workspace_diagnostics_cover_files_that_are_not_open(tmp_path: Path) -> None:
    root = write_c(write(tmp_path, PYTHON | SCRIPT | {"bad.py": "def broken(:\n", "bad.ts": "let x: number = 'a';\n"}), C)
    write_c(root, {"bad.c": "int broken( {\n"})

    async def scenario() -> dict[str, set[str]]:
        async with opened(root) as code:
            replies = await code.engines.ask_all("workspace/diagnostic", {}, seconds=PATIENCE)
            return {
                reply.engine.name: {each["uri"].rpartition("/")[2] for each in reply.value["items"] if each["items"]}
                for reply in replies
                if isinstance(reply.value, dict)
            }

    assert run(scenario) == {"ty": {"bad.py"}, "typescript": {"bad.ts"}, "clangd": {"bad.c"}}


def test_several_languages_and_roots_have_an_engine_each(tmp_path: Path) -> None:
    one, two = write(tmp_path / "one", PYTHON | SCRIPT), write(tmp_path / "two", PYTHON)

    async def scenario() -> list[tuple[str, str, EngineStatus]]:
        async with open_codebase(read_options({"roots": [str(one), str(two)]}, VARIABLES)) as code:
            await code.engines.ask_all("workspace/symbol", {"query": "target"}, seconds=PATIENCE)
            states = await code.engines.states()
            return [(state.root.name, state.identity.name, state.status) for state in states]

    ready = EngineStatus.READY
    assert run(scenario) == [("one", "ty", ready), ("one", "typescript", ready), ("two", "ty", ready)]


def test_languages_without_an_engine_fall_back_to_syntax_and_say_so(tmp_path: Path) -> None:
    root = write(tmp_path, {"a.go": "package a\n\nfunc Target() {}\n", "b.rb": "def target; end\n"})

    async def scenario() -> list[Any]:
        async with opened(root) as code:
            symbols = await code.engines.ask(root / "a.go", "textDocument/documentSymbol", {}, seconds=PATIENCE)
            everywhere = await code.engines.ask_all("workspace/symbol", {"query": "targ"}, seconds=PATIENCE)
            missing = []
            for path, method in ((root / "a.go", "textDocument/references"), (root / "b.rb", "textDocument/documentSymbol")):
                with pytest.raises(EngineMissing) as caught:
                    await code.engines.ask(path, method, {}, seconds=PATIENCE)
                missing.append(caught.value.language)
            return [symbols, everywhere, missing]

    symbols, everywhere, missing = run(scenario)
    note = "there is no engine for go: symbols are from the syntax alone"

    assert (symbols.engine.name, symbols.note, [each["name"] for each in symbols.value]) == ("tree-sitter", note, ["Target"])
    assert [(reply.engine.name, reply.note, reply.value[0]["name"]) for reply in everywhere] == [
        ("tree-sitter", note, "Target")
    ]
    assert missing == ["go", "ruby"]


def test_an_engine_is_the_same_after_it_was_killed(tmp_path: Path) -> None:
    """The same question before and after an engine's restart gives the same reply."""
    root = write(tmp_path, PYTHON)

    async def scenario() -> tuple[bool, bool, int]:
        async with opened(root) as code:
            at = place_of(root / "lib.py", "def target", "target")
            first = await references(code, "target", at)
            (state,) = await code.engines.states()
            await _kill(code)
            second = await references(code, "target", at)
            (after,) = await code.engines.states()
            return first[1:] == second[1:], first[0].engine == second[0].engine, after.restarts - state.restarts

    assert run(scenario) == (True, True, 1)


async def _kill(code: CodeBase) -> None:
    (state,) = await code.engines.states()
    assert state.pid is not None
    os.kill(state.pid, signal.SIGKILL)
    async with asyncio.timeout(PATIENCE):
        while (await code.engines.states())[0].status is not EngineStatus.FAILED:
            await asyncio.sleep(0.01)
