"""Engines that crash, hang, flood, lie or are missing, seen from the client: each has its code, and nothing of it leaks."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.packs.code.real import Real, places, run_real, write
from tests.packs.code.scripted import ScriptedEngine

from strictwire.canon.json import parse_object

pytestmark = pytest.mark.slow

DEFINITION = "textDocument/definition"
TEXTS = {"a.py": "def used():\n    return 1\n\n\nused()\n"}


def at(root: Path, line: int = 4, character: int = 0) -> dict[str, Any]:
    return {"uri": (root / "a.py").as_uri(), "position": {"line": line, "character": character}}


def location(path: Path, line: int, start: int, end: int) -> dict[str, Any]:
    return {
        "uri": path.as_uri(),
        "range": {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}},
    }


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path / "root", TEXTS)


def settings_of(engine: ScriptedEngine, **more: Any) -> dict[str, Any]:
    """The scripted engine for Python, started when it is first needed."""
    table = {"command": list(engine.command), "languages": ["python"], "known_ready": True}
    return {"engines": {"scripted": table}, "languages": {"python": "scripted"}, "warm": False, **more}


async def error_of(real: Real, operation: str, **arguments: Any) -> Any:
    raw = await real.bytes(operation, **arguments)
    assert b"secret" not in raw
    return parse_object(raw).get("error", {}).get("data", raw)


@pytest.mark.parametrize(
    "acts",
    [
        {DEFINITION: [{"error": -32603}]},
        {DEFINITION: [{"crash": 7}]},
        {DEFINITION: [{"raw": "secret nonsense\r\n\r\n"}]},
        {DEFINITION: [{"raw": "Content-Length: 5\r\n\r\nsecre"}]},
        {DEFINITION: [{"raw": "Content-Length: 99999999999\r\n\r\n"}]},
        {"initialize": [{"crash": 3}]},
        {"initialize": [{"error": -32000}]},
        {"initialize": [{"reply": "secret"}]},
        {"initialize": [{"reply": {"capabilities": ["secret"]}}]},
        {"initialize": [{"reply": {"capabilities": None}}]},
        {DEFINITION: [{"raw": 'Content-Length: 26\r\n\r\n{"id": true, "result": []}'}]},
    ],
    ids=[
        "error",
        "crash",
        "garbage",
        "not JSON",
        "endless",
        "crash at start",
        "refuses to start",
        "nonsense at start",
        "capabilities in a list",
        "no capabilities",
        "true for an id",
    ],
)
def test_an_engine_that_fails_is_unavailable_and_nothing_of_it_is_shown(
    tmp_path: Path, root: Path, acts: dict[str, list[dict[str, Any]]]
) -> None:
    engine = ScriptedEngine(tmp_path / "engine", acts)

    data = run_real(lambda real: error_of(real, "definition", **at(root)), root, **settings_of(engine))

    assert data == {"code": "PROVIDER_UNAVAILABLE"}


@pytest.mark.parametrize("act", [{"hang": True}, {"flood": True}], ids=["hangs", "floods"])
def test_an_engine_that_hangs_or_floods_costs_the_time_limit_and_other_tools_go_on(
    tmp_path: Path, root: Path, act: dict[str, Any]
) -> None:
    engine = ScriptedEngine(tmp_path / "engine", {DEFINITION: [act]})

    async def story(real: Real) -> tuple[Any, str]:
        stuck = asyncio.create_task(error_of(real, "definition", **at(root)))
        found = parse_object(await real.send(2, "search", {"query": "used"}))
        return await stuck, found["result"]["structuredContent"]["summary"]

    data, summary = run_real(story, root, **settings_of(engine, timeout_seconds=1.0))

    assert data in ({"code": "CAP_EXCEEDED", "message": "Request timed out."}, {"code": "PROVIDER_UNAVAILABLE"})
    assert summary == "Returned 2 matches."


def test_an_engine_that_crashed_answers_again_after_a_while(tmp_path: Path, root: Path) -> None:
    engine = ScriptedEngine(
        tmp_path / "engine", {DEFINITION: [{"once": {"crash": 1}}, {"reply": location(root / "a.py", 0, 4, 8)}]}
    )

    async def story(real: Real) -> tuple[Any, Any]:
        first = await error_of(real, "definition", **at(root))
        while (await error_of(real, "definition", **at(root))) == {"code": "PROVIDER_UNAVAILABLE"}:
            await asyncio.sleep(0.1)
        return first, places(await real.call("definition", **at(root)), root, "locations")

    first, found = run_real(story, root, **settings_of(engine))

    assert (first, found) == ({"code": "PROVIDER_UNAVAILABLE"}, [("a.py", 0, 4)])


def test_a_late_result_changes_nothing_visible_and_serves_the_next_call(tmp_path: Path, root: Path) -> None:
    gate = tmp_path / "gate"
    engine = ScriptedEngine(
        tmp_path / "engine", {DEFINITION: [{"wait_for": str(gate)}, {"reply": location(root / "a.py", 0, 4, 8)}]}
    )

    async def story(real: Real) -> tuple[Any, Any]:
        late = await error_of(real, "definition", **at(root))
        gate.touch()
        while (await error_of(real, "definition", **at(root))) == late:
            await asyncio.sleep(0.05)
        return late, places(await real.call("definition", **at(root)), root, "locations")

    late, found = run_real(story, root, **settings_of(engine, timeout_seconds=1.0))

    assert late == {"code": "CAP_EXCEEDED", "message": "Request timed out."}
    assert found == [("a.py", 0, 4)]
    assert len(engine.messages(DEFINITION)) == 1


def test_places_outside_the_roots_are_dropped_whatever_their_spelling(tmp_path: Path, root: Path) -> None:
    (tmp_path / "outside.py").write_text("x = 1\n")
    (root / "link.py").symlink_to(tmp_path / "outside.py")
    spellings = [
        Path("/etc/passwd").as_uri(), f"{root.as_uri()}/../outside.py", f"{root.as_uri()}/%2e%2e/outside.py",
        f"{root.as_uri()}/link.py", "http://example.com/a.py", "untitled:a", "",
    ]  # fmt: skip
    place = location(root / "a.py", 0, 4, 8)["range"]
    replies = [{"uri": uri, "range": place} for uri in [*spellings, (root / "a.py").as_uri()]]
    engine = ScriptedEngine(tmp_path / "engine", {DEFINITION: [{"reply": replies}]})

    answer = run_real(lambda real: real.call("definition", **at(root)), root, **settings_of(engine))

    assert places(answer, root, "locations") == [("a.py", 0, 4)]


def test_a_missing_engine_is_named_with_the_command_that_installs_it(root: Path) -> None:
    table = {"command": ["no-such-engine"], "languages": ["python"], "install": "pip install no-such-engine"}
    settings = {"engines": {"absent": table}, "languages": {"python": "absent"}, "warm": False}

    data = run_real(lambda real: error_of(real, "definition", **at(root)), root, **settings)

    assert data == {
        "code": "PROVIDER_UNAVAILABLE",
        "message": "No engine for python; install one with: pip install no-such-engine",
    }


def test_no_bad_position_or_uri_reaches_an_engine(tmp_path: Path, root: Path) -> None:
    engine = ScriptedEngine(tmp_path / "engine")
    (root / "binary.py").write_bytes(b"\x00\x01")
    with (root / "large.py").open("wb") as file:
        file.truncate(100 * 2**20)

    async def story(real: Real) -> list[str]:
        bad = [at(root, 99, 0), at(root, 0, 99), *({"uri": uri, "position": {"line": 0, "character": 0}} for uri in (
            "file:///etc/passwd", "file:///%zz", f"{root.as_uri()}/gone.py", f"{root.as_uri()}/binary.py",
            f"{root.as_uri()}/large.py", root.as_uri(),
        ))]  # fmt: skip
        return [await real.code_of("definition", **arguments) for arguments in bad]

    codes = run_real(story, root, **settings_of(engine))

    assert codes == [
        "NOT_FOUND", "NOT_FOUND", "WORKSPACE_DENIED", "URI_INVALID", "URI_INVALID", "NOT_FOUND", "NOT_FOUND", "NOT_FOUND",
    ]  # fmt: skip
    assert engine.methods() == []
