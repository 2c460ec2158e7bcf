"""Live servers, honest and not."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from strictwire.check.subject import ToolSet
from strictwire.client import SessionOptions
from strictwire.sources.live import read_http, read_stdio
from strictwire.sources.place import read_source
from strictwire.sources.refused import SourceRefused

LIAR = Path(__file__).with_name("liar.py")


def listed(manner: str, seconds: float = 20) -> ToolSet:
    return asyncio.run(read_stdio([sys.executable, str(LIAR), manner], SessionOptions(seconds=seconds)))


def test_an_honest_server_gives_its_tools() -> None:
    assert [each.contract.name for each in listed("honest").subjects] == ["a"]


def test_junk_entries_are_flaws() -> None:
    tools = listed("junk")

    assert (len(tools.subjects), [problem.origin.pointer for problem in tools.read_problems]) == (
        1,
        ["/tools/1/name", "/tools/1/inputSchema"],
    )


@pytest.mark.parametrize(("manner", "reason"), [("nolist", "not understood"), ("error", "-32603"), ("endless", "pages")])
def test_a_server_that_lies_is_refused(manner: str, reason: str) -> None:
    with pytest.raises(SourceRefused, match=reason):
        listed(manner)


@pytest.mark.slow
def test_a_server_that_hangs_is_refused_in_time() -> None:
    with pytest.raises(SourceRefused, match="no answer"):
        listed("hang", seconds=0.5)


def test_a_command_that_does_not_start_and_an_address_without_a_server_are_refused() -> None:
    with pytest.raises(SourceRefused, match="cannot reach"):
        asyncio.run(read_stdio(["/nonexistent/server"]))
    with pytest.raises(SourceRefused):
        asyncio.run(read_http("http://127.0.0.1:9/mcp"))


def test_a_source_names_a_command() -> None:
    tools = read_source(f"stdio:{sys.executable} {LIAR} honest")

    assert [each.contract.name for each in tools.subjects] == ["a"]


@pytest.mark.parametrize("text", ["stdio:", "stdio:'x", "none.json", "none.lock"])
def test_a_source_that_names_nothing_is_refused(text: str) -> None:
    with pytest.raises(SourceRefused):
        read_source(text)
