"""Engines that crash, hang, flood, talk nonsense or eat memory: one failure for the caller, a new engine for the next."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.packs.code.engines.bench import LIMITS, PATIENCE, choose, opened, run, spec_of, until
from tests.packs.code.engines.test_leash import family, until_gone
from tests.packs.code.scripted import ScriptedEngine
from tests.packs.code.test_files import write

from strictwire.packs.code.engine import (
    Completeness,
    EngineFailed,
    EngineIdentity,
    EngineMissing,
    EngineStatus,
    EngineTimeout,
    EngineUnsupported,
    Reply,
)
from strictwire.packs.code.engines.registry import LanguageEngines
from strictwire.packs.code.engines.spec import EngineSpec
from strictwire.packs.code.lines import MAX_TEXT
from strictwire.packs.code.lsp import client as client_module

pytestmark = pytest.mark.slow

DEFINITION = "textDocument/definition"
AT = {"position": {"line": 0, "character": 0}}
WHO = EngineIdentity(name="scripted", version="1.2.3", language="python")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path / "root", {"a.py": "x = 1\n", "b.py": "y = 2\n"})


@pytest.fixture
def engine(tmp_path: Path) -> ScriptedEngine:
    return ScriptedEngine(tmp_path / "engine")


async def ask(engines: LanguageEngines, path: Path, method: str = DEFINITION, seconds: float = PATIENCE) -> Reply:
    return await engines.ask(path, method, AT, seconds=seconds)


async def failure(engines: LanguageEngines, path: Path, method: str = DEFINITION) -> EngineFailed:
    with pytest.raises(EngineFailed) as caught:
        await ask(engines, path, method)
    return caught.value


def test_an_engine_starts_when_it_is_first_asked_and_only_then(root: Path, engine: ScriptedEngine) -> None:
    engine.play({DEFINITION: [{"reply": [1]}]})

    async def scenario() -> tuple[int, EngineStatus, Reply, EngineStatus, int]:
        async with opened(root, choose(spec_of(engine))) as engines:
            before, lives = (await engines.states())[0], engine.lives()
            reply = await ask(engines, root / "a.py")
            return lives, before.status, reply, (await engines.states())[0].status, engine.lives()

    reply = Reply(value=[1], engine=WHO, completeness=Completeness.COMPLETE)
    assert run(scenario) == (0, EngineStatus.STOPPED, reply, EngineStatus.READY, 1)


def test_params_name_the_document_and_the_engine_knows_its_root(root: Path, engine: ScriptedEngine) -> None:
    async def scenario() -> None:
        async with opened(root, choose(spec_of(engine))) as engines:
            await ask(engines, root / "a.py")

    run(scenario)
    (hello,), (asked,) = engine.messages("initialize"), engine.messages(DEFINITION)

    assert asked["params"] == {"textDocument": {"uri": (root / "a.py").as_uri()}, **AT}
    assert (hello["params"]["rootUri"], hello["params"]["capabilities"]["general"]) == (
        root.as_uri(),
        {"positionEncodings": ["utf-16"]},
    )
    assert engine.methods()[-2:] == ["shutdown", "exit"]


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        ({"crash": 3}, "it ended by itself"),
        ({"raw": "Content-Length: 5\r\n\r\nnope!"}, "it sent what is not LSP"),
        ({"raw": "Traceback (most recent call last):\r\n\r\n"}, "it sent what is not LSP"),
        ({"raw": 'Content-Length: 19\r\n\r\n{"id":99,"result":1}'[:-1]}, "it sent what is not LSP"),
        ({"flood": True}, "it sends without end"),
        ({"error": -32603}, "it refused the request"),
    ],
)
def test_a_fault_is_one_failure_with_a_reason_of_ours(
    root: Path, engine: ScriptedEngine, act: dict[str, Any], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "MAX_UNASKED", 8 * 1024 * 1024)
    engine.play({DEFINITION: [act]})

    async def scenario() -> tuple[str, str, Reply]:
        async with opened(root, choose(spec_of(engine))) as engines:
            failed = await failure(engines, root / "a.py")
            engine.play({DEFINITION: [{"reply": "well again"}]})
            return failed.engine, failed.reason, await ask(engines, root / "b.py")

    name, said, reply = run(scenario)

    assert (name, said, reply.value) == ("scripted", reason, "well again")


def test_an_engine_that_hangs_is_ended_and_everything_it_started_too(root: Path, engine: ScriptedEngine) -> None:
    engine.play({DEFINITION: [{"spawn": True}, {"hang": True}]})
    limits = replace(LIMITS, request_seconds=1.0)

    async def scenario() -> tuple[str, int, list[int]]:
        async with opened(root, choose(spec_of(engine), limits)) as engines:
            task = asyncio.create_task(failure(engines, root / "a.py"))
            await until(lambda: bool(engine.messages(DEFINITION)))
            leash = (await engines.states())[0].pid
            assert leash is not None
            await until(lambda: len(family(leash)) >= 3)
            pids = family(leash)
            failed = await task
            return failed.reason, len(pids), until_gone(pids, PATIENCE)

    assert run(scenario) == ("it does not answer", 3, [])


def test_an_engine_that_takes_too_much_memory_is_ended(root: Path, engine: ScriptedEngine) -> None:
    engine.play({DEFINITION: [{"eat": 300_000_000}]})
    limits = replace(LIMITS, memory_bytes=150_000_000)

    async def scenario() -> str:
        async with opened(root, choose(spec_of(engine), limits)) as engines:
            return (await failure(engines, root / "a.py")).reason

    assert run(scenario) == "it used more memory than allowed"


def test_an_engine_that_never_initialises_fails_in_time(root: Path, engine: ScriptedEngine) -> None:
    engine.play({"initialize": [{"hang": True}]})
    limits = replace(LIMITS, start_seconds=0.5)

    async def scenario() -> tuple[str, EngineStatus]:
        async with opened(root, choose(spec_of(engine), limits)) as engines:
            return (await failure(engines, root / "a.py")).reason, (await engines.states())[0].status

    assert run(scenario) == ("it did not start in time", EngineStatus.FAILED)


def test_restarts_wait_longer_and_longer(root: Path, engine: ScriptedEngine) -> None:
    """The first restart is at once; then there is a delay in which no process is started."""
    engine.play({DEFINITION: [{"crash": 1}]})
    limits = replace(LIMITS, first_delay=3600.0, max_delay=3600.0)

    async def scenario() -> tuple[list[str], int, int]:
        async with opened(root, choose(spec_of(engine), limits)) as engines:
            reasons = [(await failure(engines, root / "a.py")).reason for _ in range(4)]
            return reasons, engine.lives(), (await engines.states())[0].restarts

    delayed = "it failed and is started again after a delay"
    assert run(scenario) == (["it ended by itself", "it ended by itself", delayed, delayed], 2, 2)


def test_an_engine_comes_back_after_its_delay(root: Path, engine: ScriptedEngine) -> None:
    engine.play({DEFINITION: [{"crash": 1}]})

    async def scenario() -> object:
        async with opened(root, choose(spec_of(engine))) as engines:
            for _ in range(3):
                await failure(engines, root / "a.py")
            engine.play({DEFINITION: [{"reply": "back"}]})
            async with asyncio.timeout(PATIENCE):
                while True:
                    try:
                        return (await ask(engines, root / "a.py")).value
                    except EngineFailed:
                        await asyncio.sleep(0.02)

    assert run(scenario) == "back"


def test_requests_in_flight_at_a_crash_all_fail_and_the_engine_is_started_once(root: Path, engine: ScriptedEngine) -> None:
    engine.play({"textDocument/hover": [], DEFINITION: [{"crash": 1}]})

    async def scenario() -> tuple[list[str], int]:
        async with opened(root, choose(spec_of(engine))) as engines:
            waiting = [asyncio.create_task(failure(engines, root / name, "textDocument/hover")) for name in ("a.py", "b.py")]
            await until(lambda: len(engine.messages("textDocument/hover")) == 2)
            crashed = await failure(engines, root / "a.py")
            reasons = [crashed.reason, *[(await each).reason for each in waiting]]
            engine.play({})
            await asyncio.gather(*(ask(engines, root / name) for name in ("a.py", "b.py")))
            return reasons, engine.lives()

    assert run(scenario) == (["it ended by itself"] * 3, 2)


def test_a_caller_that_runs_out_of_time_cancels_its_request_and_the_engine_lives(root: Path, engine: ScriptedEngine) -> None:
    engine.play({DEFINITION: []})

    async def scenario() -> tuple[str, list[str], int]:
        async with opened(root, choose(spec_of(engine))) as engines:
            await ask(engines, root / "b.py", "textDocument/hover")
            before = engines.epochs()
            with pytest.raises(EngineTimeout) as caught:
                await ask(engines, root / "a.py", seconds=0.05)
            await until(lambda: "$/cancelRequest" in engine.methods())
            assert engines.epochs() == before
            await ask(engines, root / "b.py", "textDocument/hover")
            return caught.value.engine, engine.methods()[-3:], engine.lives()

    assert run(scenario) == ("scripted", [DEFINITION, "$/cancelRequest", "textDocument/hover"], 1)


def test_a_caller_that_runs_out_of_time_during_the_start_does_not_end_it(
    root: Path, engine: ScriptedEngine, tmp_path: Path
) -> None:
    capabilities = {"capabilities": {"hoverProvider": True}}
    engine.play({"initialize": [{"wait_for": str(tmp_path / "go")}, {"reply": capabilities}]})

    async def scenario() -> tuple[EngineStatus, int]:
        async with opened(root, choose(spec_of(engine))) as engines:
            with pytest.raises(EngineTimeout):
                await ask(engines, root / "a.py", seconds=0.2)
            await until(lambda: engine.lives() == 1)
            status = (await engines.states())[0].status
            (tmp_path / "go").touch()
            await ask(engines, root / "a.py", "textDocument/hover")
            return status, engine.lives()

    assert run(scenario) == (EngineStatus.STARTING, 1)


def test_an_engine_that_says_that_files_changed_is_asked_again(root: Path, engine: ScriptedEngine) -> None:
    engine.play({DEFINITION: [{"error": -32801}]})

    async def scenario() -> tuple[str, int]:
        async with opened(root, choose(spec_of(engine))) as engines:
            return (await failure(engines, root / "a.py")).reason, len(engine.messages(DEFINITION))

    assert run(scenario) == ("it refused the request", 3)


def test_what_an_engine_does_not_offer_is_not_sent(root: Path, engine: ScriptedEngine) -> None:
    async def scenario() -> str:
        async with opened(root, choose(spec_of(engine))) as engines:
            with pytest.raises(EngineUnsupported) as caught:
                await ask(engines, root / "a.py", "textDocument/implementation")
            return caught.value.reason

    assert run(scenario) == "scripted does not offer textDocument/implementation"
    assert "textDocument/implementation" not in engine.methods()


def test_an_engine_may_ask_and_is_told_nothing_that_changes_files(root: Path, engine: ScriptedEngine) -> None:
    engine.play(
        {
            DEFINITION: [
                {"ask": ["workspace/applyEdit", {"edit": {}}]},
                {"ask": ["workspace/configuration", {"items": [{"section": "known"}, {"section": "other"}]}]},
                {"reply": None},
            ]
        }
    )

    async def scenario() -> None:
        async with opened(root, choose(spec_of(engine, settings={"known": {"a": 1}}))) as engines:
            await ask(engines, root / "a.py")
            await until(lambda: len([each for each in engine.messages() if each.get("id") == "ours"]) == 2)

    run(scenario)

    assert [each["result"] for each in engine.messages() if each.get("id") == "ours"] == [
        {"applied": False},
        [{"a": 1}, None],
    ]


def test_a_missing_engine_is_reported_with_the_command_that_installs_it(root: Path) -> None:
    spec = EngineSpec(name="none", languages=("python",), command=("no-such-engine",), install="pip install none")

    async def scenario() -> tuple[str, str, EngineStatus]:
        async with opened(root, choose(spec)) as engines:
            with pytest.raises(EngineMissing) as caught:
                await ask(engines, root / "a.py")
            return caught.value.language, caught.value.install, (await engines.states())[0].status

    assert run(scenario) == ("python", "pip install none", EngineStatus.MISSING)


def test_documents_that_cannot_be_read_never_reach_the_engine(root: Path, engine: ScriptedEngine) -> None:
    (root / "large.py").write_bytes(b"x" * (MAX_TEXT + 1))
    (root / "binary.py").write_bytes(b"\0")

    async def scenario() -> list[str]:
        async with opened(root, choose(spec_of(engine, opens=True))) as engines:
            kinds = []
            for path in (root / "absent.py", root / "large.py", root / "binary.py", root.parent / "engine" / "log.py"):
                with pytest.raises(OSError) as caught:
                    await ask(engines, path)
                kinds.append(type(caught.value).__name__)
            with pytest.raises(EngineMissing):
                await ask(engines, write(root, {"notes.txt": ""}) / "notes.txt")
            return kinds

    assert run(scenario) == ["FileNotFoundError", "OSError", "NotSource", "FileNotFoundError"]
    assert DEFINITION not in engine.methods()


def test_closing_ends_requests_and_processes_at_once(root: Path, engine: ScriptedEngine) -> None:
    engine.play({DEFINITION: [{"spawn": True}], "shutdown": [{"hang": True}]})

    async def scenario() -> tuple[list[int], float]:
        async with opened(root, choose(spec_of(engine))) as engines:
            task = asyncio.create_task(ask(engines, root / "a.py"))
            await until(lambda: bool(engine.messages(DEFINITION)))
            leash = (await engines.states())[0].pid
            assert leash is not None
            await until(lambda: len(family(leash)) == 3)
            pids = family(leash)
            started = time.monotonic()
        with pytest.raises(EngineFailed):
            await task
        return until_gone(pids, 0), time.monotonic() - started

    left, seconds = run(scenario)

    assert (left, seconds < PATIENCE) == ([], True)
