"""An engine knows the disk before it is asked: edits, new files, deleted files, checkouts."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.packs.code.engines.bench import PATIENCE, choose, opened, run, spec_of, until
from tests.packs.code.scripted import ScriptedEngine
from tests.packs.code.test_files import write

from strictwire.packs.code.engine import Completeness, EngineFailed
from strictwire.packs.code.engines import sync as sync_module
from strictwire.packs.code.engines import workspace as workspace_module
from strictwire.packs.code.engines.projects import documents_to_load
from strictwire.packs.code.engines.registry import LanguageEngines
from strictwire.packs.code.engines.spec import EngineSpec, Hint, Rereads, Sign

HOVER, REFERENCES, SYMBOLS = "textDocument/hover", "textDocument/references", "textDocument/documentSymbol"
AT = {"position": {"line": 0, "character": 0}}
SYNC = ("textDocument/didOpen", "textDocument/didChange", "textDocument/didClose", "workspace/didChangeWatchedFiles")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path / "root", {"a.py": "a = 1\n", "b.py": "b = 1\n"})


@pytest.fixture
def engine(tmp_path: Path) -> ScriptedEngine:
    return ScriptedEngine(tmp_path / "engine")


async def ask(engines: LanguageEngines, path: Path, method: str = HOVER) -> Completeness:
    return (await engines.ask(path, method, AT, seconds=PATIENCE)).completeness


def story(engine: ScriptedEngine) -> list[tuple[str, ...]]:
    """What the engine was told and asked about files, in short."""
    lines: list[tuple[str, ...]] = []
    for message in engine.messages():
        method, params = message.get("method", ""), message.get("params") or {}
        short = method.rpartition("/")[2]
        if method == "workspace/didChangeWatchedFiles":
            lines += sorted((short, _name(each["uri"]), str(each["type"])) for each in params["changes"])
        elif method == "textDocument/didChange":
            lines.append((short, _name(params["textDocument"]["uri"]), params["contentChanges"][0]["text"]))
        elif method == "textDocument/didOpen":
            lines.append((short, _name(params["textDocument"]["uri"]), params["textDocument"]["text"]))
        elif method.startswith("textDocument/"):
            lines.append((short, _name(params["textDocument"]["uri"])))
    return lines


def _name(uri: str) -> str:
    return uri.rpartition("/root/")[2]


def test_an_engine_that_reads_closed_files_is_told_of_changes_before_it_is_asked(root: Path, engine: ScriptedEngine) -> None:
    async def scenario() -> None:
        async with opened(root, choose(spec_of(engine))) as engines:
            await ask(engines, root / "a.py")
            write(root, {"a.py": "a = 2\n", "sub/new.py": ""})
            (root / "b.py").unlink()
            await ask(engines, root / "a.py")
            await ask(engines, root / "a.py")

    run(scenario)

    assert story(engine) == [
        ("hover", "a.py"),
        ("didChangeWatchedFiles", "a.py", "2"),
        ("didChangeWatchedFiles", "b.py", "3"),
        ("didChangeWatchedFiles", "sub/new.py", "1"),
        ("hover", "a.py"),
        ("hover", "a.py"),
    ]


def test_an_open_document_follows_its_file(root: Path, engine: ScriptedEngine) -> None:
    async def scenario() -> None:
        async with opened(root, choose(spec_of(engine, opens=True))) as engines:
            await ask(engines, root / "a.py")
            write(root, {"a.py": "a = 2\n"})
            await ask(engines, root / "a.py")
            (root / "a.py").unlink()
            await ask(engines, root / "b.py")

    run(scenario)

    assert story(engine) == [
        ("didOpen", "a.py", "a = 1\n"),
        ("hover", "a.py"),
        ("didChangeWatchedFiles", "a.py", "2"),
        ("didChange", "a.py", "a = 2\n"),
        ("hover", "a.py"),
        ("didChangeWatchedFiles", "a.py", "3"),
        ("didClose", "a.py"),
        ("didOpen", "b.py", "b = 1\n"),
        ("hover", "b.py"),
    ]


def test_an_engine_that_only_knows_open_files_gets_changed_ones_opened_and_read(root: Path, engine: ScriptedEngine) -> None:
    """The request follows only after the engine answered a question about the new text."""

    async def scenario() -> None:
        async with opened(root, choose(spec_of(engine, opens=True, rereads=Rereads.OPENED))) as engines:
            await ask(engines, root / "a.py")
            write(root, {"c.py": "c = 1\n", "notes.txt": "", "a.py": "a = 2\n"})
            await asyncio.gather(ask(engines, root / "a.py"), ask(engines, root / "b.py"))

    run(scenario)
    told = story(engine)
    hovers = [number for number, line in enumerate(told) if line[0] == "hover"]
    read = [line for line in told[: hovers[1]] if line[0] == "documentSymbol"]

    assert ("didOpen", "c.py", "c = 1\n") in told
    assert sorted(read) == [("documentSymbol", "a.py"), ("documentSymbol", "c.py")]
    assert not any(line[0] == "didOpen" and line[1] == "notes.txt" for line in told)


def test_documents_are_closed_when_too_many_are_open(
    root: Path, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sync_module.Sync.__init__, "__kwdefaults__", {"max_open": 2})
    write(root, {"c.py": "c = 1\n"})

    async def scenario() -> None:
        async with opened(root, choose(spec_of(engine, opens=True))) as engines:
            for name in ("a.py", "b.py", "a.py", "c.py"):
                await ask(engines, root / name)

    run(scenario)

    assert [line[:2] for line in story(engine) if line[0] in ("didOpen", "didClose")] == [
        ("didOpen", "a.py"),
        ("didOpen", "b.py"),
        ("didClose", "b.py"),
        ("didOpen", "c.py"),
    ]


def test_more_changes_than_can_be_open_lead_to_a_new_engine(
    root: Path, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sync_module.Sync.__init__, "__kwdefaults__", {"max_open": 2})

    async def scenario() -> tuple[str, int]:
        async with opened(root, choose(spec_of(engine, opens=True, rereads=Rereads.OPENED))) as engines:
            await ask(engines, root / "a.py")
            write(root, {f"new{number}.py": "" for number in range(5)})
            with pytest.raises(EngineFailed) as caught:
                await ask(engines, root / "a.py")
            await ask(engines, root / "a.py")
            return caught.value.reason, engine.lives()

    assert run(scenario) == ("too many files changed at once", 2)


READY = (Sign(hint=Hint.LOG, pattern="^Found [0-9]+ files"), Sign(hint=Hint.DIAGNOSTICS))


def _log(text: str) -> dict[str, Any]:
    return {"notify": ["window/logMessage", {"type": 3, "message": text}]}


_PUBLISHED = {"notify": ["textDocument/publishDiagnostics", {"uri": "file:///x", "diagnostics": []}]}


def test_answers_are_warming_until_the_signs_were_seen_in_their_order(root: Path, engine: ScriptedEngine) -> None:
    engine.play({HOVER: [_PUBLISHED, {"reply": None}], SYMBOLS: [_log("Found 2 files"), _PUBLISHED, {"reply": []}]})

    async def scenario() -> list[Completeness]:
        async with opened(root, choose(spec_of(engine, ready=READY))) as engines:
            seen = [await ask(engines, root / "a.py", HOVER), await ask(engines, root / "a.py", "textDocument/definition")]
            seen.append((await engines.ask(root / "a.py", REFERENCES, AT, seconds=0.5)).completeness)
            await ask(engines, root / "a.py", SYMBOLS)
            seen.append(await ask(engines, root / "a.py", REFERENCES))
            return seen

    warming, complete = Completeness.WARMING, Completeness.COMPLETE
    assert run(scenario) == [complete, warming, warming, complete]


def test_a_progress_that_runs_is_not_ready_and_one_that_ended_is(root: Path, engine: ScriptedEngine) -> None:
    begin = {"notify": ["$/progress", {"token": "t", "value": {"kind": "begin", "title": "indexing"}}]}
    other = {"notify": ["$/progress", {"token": "u", "value": {"kind": "begin", "title": "formatting"}}]}
    end = {"notify": ["$/progress", {"token": "t", "value": {"kind": "end"}}]}
    signs = (Sign(hint=Hint.PROGRESS, pattern="^indexing$"),)
    definition = "textDocument/definition"

    async def scenario() -> list[Completeness]:
        async with opened(root, choose(spec_of(engine, ready=signs))) as engines:
            seen = []
            for acts in ([begin], [other], [end], [begin], [end]):
                engine.play({HOVER: [*acts, {"reply": None}]})
                await ask(engines, root / "a.py", HOVER)
                seen.append(await ask(engines, root / "a.py", definition))
            return seen

    warming, complete = Completeness.WARMING, Completeness.COMPLETE
    assert run(scenario) == [warming, warming, complete, warming, complete]


def test_signs_on_stderr_count(root: Path, engine: ScriptedEngine) -> None:
    engine.play({HOVER: [{"stderr": " INFO Populated all files"}, {"reply": None}]})
    signs = (Sign(hint=Hint.STDERR, pattern="Populated all"),)

    async def scenario() -> Completeness:
        async with opened(root, choose(spec_of(engine, ready=signs))) as engines:
            await ask(engines, root / "a.py")
            return await ask(engines, root / "a.py", REFERENCES)  # waits for the line, which comes by another pipe

    assert run(scenario) is Completeness.COMPLETE


def test_a_new_file_makes_an_engine_that_lists_them_warm_up_again(root: Path, engine: ScriptedEngine) -> None:
    engine.play({HOVER: [_log("Found 2 files"), _PUBLISHED, {"reply": None}]})

    async def scenario() -> list[Completeness]:
        async with opened(root, choose(spec_of(engine, ready=READY, relists=True))) as engines:
            definition = "textDocument/definition"
            await ask(engines, root / "a.py")
            seen = [await ask(engines, root / "a.py", definition)]
            write(root, {"a.py": "a = 2\n"})
            seen.append(await ask(engines, root / "a.py", definition))
            write(root, {"new.py": ""})
            seen.append(await ask(engines, root / "a.py", definition))
            await ask(engines, root / "a.py")
            seen.append(await ask(engines, root / "a.py", definition))
            return seen

    warming, complete = Completeness.WARMING, Completeness.COMPLETE
    assert run(scenario) == [complete, complete, warming, complete]


def test_an_engine_without_a_known_sign_is_never_complete(root: Path, engine: ScriptedEngine) -> None:
    async def scenario() -> tuple[Completeness, str]:
        async with opened(root, choose(spec_of(engine, known_ready=False))) as engines:
            reply = await engines.ask(root / "a.py", REFERENCES, AT, seconds=PATIENCE)
            return reply.completeness, reply.note

    assert run(scenario) == (Completeness.PARTIAL, "scripted does not show whether it has indexed everything")


@pytest.mark.parametrize("numbered", [{"version": 1}, {}])
def test_diagnostics_are_pushed_or_pulled_and_look_the_same(
    root: Path, engine: ScriptedEngine, tmp_path: Path, numbered: dict[str, int]
) -> None:
    item = {"message": "m"}
    pushed = {"uri": (root / "a.py").as_uri(), "diagnostics": [item], **numbered}
    engine.play({"textDocument/didOpen": [{"notify": ["textDocument/publishDiagnostics", pushed]}]})
    puller = ScriptedEngine(tmp_path / "puller", diagnosticProvider={"workspaceDiagnostics": False})
    puller.play({"textDocument/diagnostic": [{"reply": {"kind": "full", "items": [item]}}]})

    async def diagnose(choice: Any) -> tuple[Any, Any]:
        async with opened(root, choice) as engines:
            one = await engines.ask(root / "a.py", "textDocument/diagnostic", {}, seconds=PATIENCE)
            two = await engines.ask(root / "a.py", "textDocument/diagnostic", {}, seconds=PATIENCE)
            assert one == two
            return one.value, one.completeness

    expected = ({"kind": "full", "items": [item]}, Completeness.COMPLETE)
    assert run(lambda: diagnose(choose(spec_of(engine, opens=True)))) == expected
    assert run(lambda: diagnose(choose(spec_of(puller)))) == expected


def test_pushed_diagnostics_are_asked_for_again_after_any_change(root: Path, engine: ScriptedEngine) -> None:
    uri = (root / "a.py").as_uri()
    first = {"uri": uri, "version": 1, "diagnostics": [{"message": "one"}]}
    second = {"uri": uri, "version": 2, "diagnostics": [{"message": "two"}]}
    engine.play(
        {
            "textDocument/didOpen": [{"notify": ["textDocument/publishDiagnostics", first]}],
            "textDocument/didChange": [{"notify": ["textDocument/publishDiagnostics", second]}],
        }
    )

    async def scenario() -> list[str]:
        async with opened(root, choose(spec_of(engine, opens=True))) as engines:
            said = []
            for text in (None, None, "b = 2\n"):
                if text is not None:
                    write(root, {"b.py": text})
                reply = await engines.ask(root / "a.py", "textDocument/diagnostic", {}, seconds=PATIENCE)
                assert isinstance(reply.value, dict)
                said.append(reply.value["items"][0]["message"])
            return said

    assert run(scenario) == ["one", "one", "two"]


def test_workspace_diagnostics_are_gathered_file_by_file_where_the_engine_has_none(
    root: Path, engine: ScriptedEngine
) -> None:
    publish = [
        {"notify": ["textDocument/publishDiagnostics", {"uri": (root / name).as_uri(), "version": 1, "diagnostics": found}]}
        for name, found in (("a.py", [{"message": "m"}]), ("b.py", []))
    ]
    engine.play({"textDocument/didOpen": publish})

    async def scenario() -> Any:
        async with opened(root, choose(spec_of(engine, opens=True))) as engines:
            (reply,) = await engines.ask_all("workspace/diagnostic", {}, seconds=PATIENCE)
            return reply.value

    items = [{"uri": (root / "a.py").as_uri(), "kind": "full", "items": [{"message": "m"}]}]
    assert run(scenario) == {"items": items}


def test_a_file_that_an_engine_is_silent_about_makes_workspace_diagnostics_partial(
    root: Path, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace_module, "_SECONDS", 0.2)
    published = {"uri": (root / "a.py").as_uri(), "version": 1, "diagnostics": [{"message": "m"}]}
    engine.play({"textDocument/didOpen": [{"notify": ["textDocument/publishDiagnostics", published]}]})

    async def scenario() -> tuple[Completeness, str, int]:
        async with opened(root, choose(spec_of(engine, opens=True))) as engines:
            (reply,) = await engines.ask_all("workspace/diagnostic", {}, seconds=PATIENCE)
            assert isinstance(reply.value, dict)
            return reply.completeness, reply.note, len(reply.value["items"])

    assert run(scenario) == (Completeness.PARTIAL, "the engine reports nothing for some files", 1)


def test_more_files_than_are_looked_at_make_workspace_diagnostics_partial(
    root: Path, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace_module, "MAX_FILES", 1)
    published = {"uri": (root / "a.py").as_uri(), "version": 1, "diagnostics": []}
    engine.play({"textDocument/didOpen": [{"notify": ["textDocument/publishDiagnostics", published]}]})

    async def scenario() -> tuple[Completeness, str]:
        async with opened(root, choose(spec_of(engine, opens=True))) as engines:
            (reply,) = await engines.ask_all("workspace/diagnostic", {}, seconds=PATIENCE)
            return reply.completeness, reply.note

    assert run(scenario) == (Completeness.PARTIAL, "only the first 1 files were looked at")


def test_one_document_of_each_project_is_loaded() -> None:
    spec = EngineSpec(name="x", languages=("typescript",), command=("x",), opens=False, projects=("tsconfig.json",))
    paths = (
        "/r/a.ts",
        "/r/one/tsconfig.json",
        "/r/one/src/b.ts",
        "/r/one/src/c.ts",
        "/r/one/inner/d.ts",
        "/r/one/inner/tsconfig.json",
        "/r/two/tsconfig.json",
        "/r/two/e.py",
    )

    assert documents_to_load(spec, Path("/r"), tuple(sorted(paths))) == ["/r/one/inner/d.ts", "/r/one/src/b.ts"]
    assert documents_to_load(spec, Path("/r"), ("/r/a.ts", "/r/b.ts")) == ["/r/a.ts"]


def test_an_engine_is_started_and_warmed_before_it_is_asked(root: Path, engine: ScriptedEngine) -> None:
    async def scenario() -> None:
        async with opened(root, choose(spec_of(engine, opens=True, warm_up="zz"))) as engines:
            engines.epochs()
            await engines.start()
            await until(lambda: "workspace/symbol" in engine.methods())

    run(scenario)

    assert [method for method in engine.methods() if method in (*SYNC, "workspace/symbol")] == [
        "textDocument/didOpen",
        "workspace/symbol",
    ]
