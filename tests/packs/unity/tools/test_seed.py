"""The example requests of EditorMCP's envelope document, over `/rpc/editor` and stdio, against its example answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.live import StdioProcess, request, serve_http
from tests.packs.unity.seed_project import golden, seed_project
from tests.packs.unity.writer_settings import UNITY_VERSION

from strictwire.canon.json import parse_object, render
from strictwire.packs.unity.references.index import ProjectIndex

pytestmark = pytest.mark.slow
Ask = Callable[[bytes], bytes]
EXAMPLES = ("hierarchy", "invalid_arguments", "tool_not_found", "scene_not_found")
ITEMS = 200
"""What the document's example says there is to scan."""


@contextmanager
def over_stdio(*arguments: str, env: dict[str, str] | None = None) -> Iterator[Ask]:
    with StdioProcess(*arguments, "--profile", "editor/0.1", env=env) as server:

        def ask(raw: bytes) -> bytes:
            server.send(raw)
            return server.line()

        yield ask


@contextmanager
def over_http(*arguments: str, env: dict[str, str] | None = None) -> Iterator[Ask]:
    with serve_http(*arguments, env=env) as server, server.connect() as connection:

        def ask(raw: bytes) -> bytes:
            connection.write(request(raw, port=server.port, path="/rpc/editor"))
            return connection.answer().body

        yield ask


OVER = {"stdio": over_stdio, "http": over_http}
overs = pytest.mark.parametrize("over", OVER)


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("seed")
    root = seed_project().save(folder / "project")
    file = folder / "strictwire.toml"
    file.write_text(f'[packs.unity]\nroot = "{root}"\n')
    return file


def drive(over: str, settings: Path, *requests: dict[str, Any]) -> list[bytes]:
    with OVER[over]("--pack=unity", "--config", str(settings)) as ask:
        return [ask(render(each)) for each in requests]


@overs
@pytest.mark.clause("E3")
@pytest.mark.clause("E7")
def test_the_examples_are_answered_as_the_document_shows(over: str, settings: Path) -> None:
    examples = [golden(name) for name in EXAMPLES]
    answers = drive(over, settings, *(each["request"] for each in examples))

    assert [parse_object(each) for each in answers] == [each["response"] for each in examples]


@overs
@pytest.mark.clause("E12")
def test_the_same_call_gives_the_same_bytes(over: str, settings: Path) -> None:
    examples = [golden(name)["request"] for name in (*EXAMPLES, "missing", "tools_list", "tools_describe", "server_info")]
    answers = drive(over, settings, *examples, *examples)

    assert answers[: len(examples)] == answers[len(examples) :]


def test_both_transports_give_the_same_bytes(settings: Path) -> None:
    examples = [golden(name)["request"] for name in (*EXAMPLES, "missing", "tools_list", "tools_describe", "server_info")]

    assert drive("stdio", settings, *examples) == drive("http", settings, *examples)


@overs
@pytest.mark.clause("E9")
@pytest.mark.clause("E10")
def test_a_scan_that_runs_out_of_time_answers_with_what_it_has(over: str, tmp_path: Path) -> None:
    """The document's second example: 50 of 200 items in 15 seconds, by a clock that jumps."""
    fixed = len(ProjectIndex(seed_project().save(tmp_path / "small")).graph().scans)
    root = seed_project(ITEMS - fixed).save(tmp_path / "project")
    example = golden("missing")
    with OVER[over]("unity_guarded:server", env={"UNITY_ROOT": str(root), "UNITY_CALLS": "50"}) as ask:
        answer = parse_object(ask(render(example["request"])))

    assert answer == example["response"]


@overs
@pytest.mark.clause("E4")
@pytest.mark.clause("E5")
@pytest.mark.clause("E6")
def test_lists_descriptions_and_info_have_the_members_of_the_document(over: str, settings: Path) -> None:
    listed, described, info = (golden(name) for name in ("tools_list", "tools_describe", "server_info"))
    answers = drive(over, settings, *(each["request"] for each in (listed, described, info)))
    tools, tool, told = (parse_object(each)["result"] for each in answers)

    assert {tuple(each) for each in tools["tools"]} == {tuple(listed["shape"]["tools"])}
    assert {each["category"] for each in tools["tools"]} == {"scene"}
    assert list(tool) == ["tool"]
    assert list(tool["tool"]) == described["shape"]["tool"]
    assert tool["tool"]["id"] == "project.info"
    assert list(told) == info["shape"]
    assert told == {
        "serverVersion": "0.1.0",
        "unityVersion": UNITY_VERSION,
        "platform": "LinuxEditor",
        "enabledToolCategories": ["asset", "audio", "editor", "mcp.platform", "project", "scene"],
        "tier": "core",
    }


@overs
@pytest.mark.clause("E8")
def test_a_tool_of_a_higher_tier_is_denied_before_its_arguments_are_looked_at(over: str, settings: Path) -> None:
    call = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"tool": "go.create", "arguments": {"odd": [1]}}}
    (answer,) = drive(over, settings, call)

    assert parse_object(answer)["error"] == {
        "code": -32005,
        "message": "Permission denied",
        "data": {
            "tool": "go.create",
            "errorType": "permission",
            "details": {"requiredTier": "pro", "currentTier": "core"},
        },
    }
