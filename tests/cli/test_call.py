"""`strictwire call` and `strictwire inspect` on a module, a command and a URL."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.live import serve_http

from strictwire.canon.json import parse_object
from strictwire.cli.call import read_arguments
from strictwire.cli.main import main
from strictwire.cli.target import TargetRefused

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    monkeypatch.setenv("STRICTWIRE_AUDIT_MODE", "off")


SCHEMA = {"properties": {"name": {"type": "string"}, "count": {"type": "integer"}, "tags": {"type": "array"}}}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], {}),
        (["--name", "5", "--count", "5"], {"name": "5", "count": 5}),
        (["--name=a b", "--tags", '["x"]'], {"name": "a b", "tags": ["x"]}),
        (["--count", "five"], {"count": "five"}),
        (["--json", '{"count":1}', "--name", "n"], {"count": 1, "name": "n"}),
        (["--unknown", "true"], {"unknown": True}),
    ],
)
def test_words_become_arguments_by_the_schema_of_the_tool(words: list[str], expected: dict[str, Any]) -> None:
    assert read_arguments(words, SCHEMA) == expected


@pytest.mark.parametrize("words", [["name", "x"], ["--name"], ["--json", "[1]"]])
def test_other_words_are_wrong_usage(words: list[str]) -> None:
    with pytest.raises(TargetRefused, match="expected"):
        read_arguments(words, SCHEMA)


@pytest.mark.slow
def test_a_tool_of_a_module_is_called(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["call", "shop:server", "price_of", "--item", "cup", "--count", "2"]) == 0
    assert parse_object(capfd.readouterr().out.encode()) == {"result": 500}


@pytest.mark.slow
def test_a_failure_says_what_to_do_next(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["call", "shop:server", "price_of", "--item", "unicorn"]) == 1
    assert capfd.readouterr().err == (
        "error NOT_FOUND (price_of): Not found: unicorn\n  next: Check the name or the location.\n"
    )


ASKING = """
from dataclasses import dataclass

from strictwire import Context, Server

server = Server("asking", version="1.0.0")


@dataclass
class Choice:
    item: str


@server.tool
async def ask(ctx: Context) -> str:
    \"\"\"Asks the user.\"\"\"
    return str(await ctx.elicit("Which item?", Choice))
"""


@pytest.mark.slow
def test_a_tool_that_asks_the_user_names_the_capability(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "asking.py").write_text(ASKING)
    monkeypatch.chdir(tmp_path)

    assert main(["call", "asking:server", "ask"]) == 1
    assert capfd.readouterr().err == (
        "strictwire call: ask: MISSING_CAPABILITY: Missing required client capability (elicitation); this command cannot "
        "answer questions of a server: use an MCP client that can, or strictwire.Client with on_elicit, on_sample or roots\n"
    )


@pytest.mark.slow
def test_the_traceback_of_a_handler_is_shown_with_its_source_line(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["call", "shop:server", "broken"]) == 1

    errors = capfd.readouterr().err
    assert "tool broken raised ZeroDivisionError" in errors
    assert "return 1 // secret_divisor" in errors
    assert errors.splitlines()[-2].startswith("error TOOL_FAILED (broken): The tool failed")


@pytest.mark.slow
def test_a_result_that_breaks_its_contract_is_explained_in_the_log(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["call", "shop:server", "lie"]) == 1

    assert "tool lie returned an invalid result: {'violations': [{'path': '/a', 'keyword': 'type'" in capfd.readouterr().err


@pytest.mark.slow
def test_an_unknown_tool_is_wrong_usage(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["call", "shop:server", "price"]) == 2
    assert capfd.readouterr().err == "strictwire call: no tool 'price'; did you mean 'price_of'?\n"


@pytest.mark.slow
def test_a_module_that_does_not_start_is_started_once_and_its_error_shown_once(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["call", "shop:serve", "price_of"]) == 1
    assert capfd.readouterr().err == (
        "strictwire serve: 'shop:serve': the module has no 'serve'; did you mean shop:server?\n"
        "strictwire call: the server exited 2\n"
    )


INSPECTED = """shop 1.2.3 (MCP 2026-07-28)
  Prices are in cents.

Tools
  price_of(item: string, [count: integer (minimum 1)])  [read-only]
      Looks up a price.
  broken()  [undeclared]
      Fails.
  lie()  [read-only]
      Breaks its own contract.

Resource templates
  shop://{item}
      One item.

Prompts
  advertise(item, [words])
      Asks for an advertisement.
"""


@pytest.mark.slow
@pytest.mark.parametrize("way", ["module", "command", "url"])
def test_a_server_is_inspected_by_module_command_and_url(way: str, capfd: pytest.CaptureFixture[str]) -> None:
    command = f"{sys.executable} -m strictwire.cli.main serve shop:server --stdio"
    if way == "url":
        with serve_http("shop:server", env={"PYTHONPATH": str(HERE)}) as process:
            code = main(["inspect", process.url])
    else:
        code = main(["inspect", {"module": "shop:server", "command": command}[way]])

    assert (code, capfd.readouterr().out) == (0, INSPECTED)
