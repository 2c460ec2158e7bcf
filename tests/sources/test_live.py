"""Running servers: correct, malformed, endless and hanging ones."""

from __future__ import annotations

import asyncio
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from strictwire.check.subject import ToolSet
from strictwire.client import SessionOptions
from strictwire.sources.live import read_http, read_stdio, time_limit
from strictwire.sources.refused import SourceRefused
from strictwire.sources.specifier import LiveOptions, read_source

SERVER = Path(__file__).with_name("broken_server.py")


def listed(behaviour: str, seconds: float = 20) -> ToolSet:
    return asyncio.run(read_stdio([sys.executable, str(SERVER), behaviour], SessionOptions(seconds=seconds)))


def test_the_tools_of_a_correct_server_are_read() -> None:
    assert [each.contract.name for each in listed("correct").subjects] == ["a"]


def test_malformed_entries_are_read_problems() -> None:
    tools = listed("malformed-entry")

    assert (len(tools.subjects), [problem.origin.pointer for problem in tools.read_problems]) == (
        1,
        ["/tools/1/name", "/tools/1/inputSchema"],
    )


@pytest.mark.parametrize(("behaviour", "reason"), [("no-list", "not understood"), ("error", "-32603"), ("endless", "pages")])
def test_a_server_without_a_usable_list_is_refused(behaviour: str, reason: str) -> None:
    with pytest.raises(SourceRefused, match=reason):
        listed(behaviour)


@pytest.mark.slow
def test_a_server_that_hangs_is_refused_after_the_time_limit() -> None:
    with pytest.raises(SourceRefused, match="no answer"):
        listed("hang", seconds=0.5)


def test_a_command_that_does_not_start_and_an_address_without_a_server_are_refused() -> None:
    with pytest.raises(SourceRefused, match="cannot reach"):
        asyncio.run(read_stdio(["/nonexistent/server"]))
    with pytest.raises(SourceRefused):
        asyncio.run(read_http("http://127.0.0.1:9/mcp"))


def test_a_stdio_source_starts_the_command() -> None:
    tools = read_source(f"stdio:{sys.executable} {SERVER} correct")

    assert [each.contract.name for each in tools.subjects] == ["a"]


@pytest.mark.parametrize("text", ["stdio:", "stdio:'x", "none.json", "none.lock"])
def test_a_source_that_does_not_exist_is_refused(text: str) -> None:
    with pytest.raises(SourceRefused):
        read_source(text)


def test_the_stderr_of_a_server_that_ends_is_part_of_the_reason_without_its_secrets() -> None:
    code = "import sys; sys.exit('no database at db:5432, password=hunter2')"
    with pytest.raises(SourceRefused) as refused:
        asyncio.run(read_stdio([sys.executable, "-c", code]))

    assert "no database at db:5432" in refused.value.reason
    assert "hunter2" not in str(refused.value)


def test_secrets_of_a_command_line_are_not_in_the_name_of_the_source() -> None:
    command = [sys.executable, str(SERVER), "correct", "--api-key", "abc123", "--token=xyz", "--verbose", "true"]
    label = asyncio.run(read_stdio(command)).label

    assert label.split()[2:] == ["correct", "--api-key", "[redacted]", "--token=[redacted]", "--verbose", "true"]


def test_a_slow_server_can_be_given_more_time() -> None:
    code = f"import time; time.sleep(0.5); import sys, runpy; sys.argv[1:] = ['correct']; runpy.run_path({str(SERVER)!r})"
    source = f'stdio:{sys.executable} -c "{code}"'

    assert len(read_source(source, live=LiveOptions(timeout=60)).subjects) == 1


def test_the_time_limit_of_the_whole_list_follows_that_of_one_response() -> None:
    assert time_limit(SessionOptions(seconds=300, detect_seconds=300)) > 300


def test_a_server_that_requires_a_token_gets_every_option_that_gives_one() -> None:
    class Refuses(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(401)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_args: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Refuses) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(SourceRefused) as refused:
            asyncio.run(read_http(f"http://127.0.0.1:{server.server_port}/mcp"))
        server.shutdown()

    assert all(each in refused.value.reason for each in ("--token-env", "--token-file", "--oauth-client-id", "--header"))


@pytest.mark.slow
def test_a_server_that_writes_something_else_to_stdout_is_named_with_its_first_bytes_escaped() -> None:
    code = "import sys; print('Listening on \\x1b[31m:8080', flush=True); sys.stdin.read()"
    options = SessionOptions(seconds=2, detect_seconds=2)
    with pytest.raises(SourceRefused) as refused:
        asyncio.run(read_stdio([sys.executable, "-c", code], options))

    assert "its stdout is not MCP" in refused.value.reason
    assert refused.value.reason.endswith("it begins with: Listening on \\u001b[31m:8080")
