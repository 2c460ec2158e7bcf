"""Every code of every tool dialect over real transports: a process on stdio and a process on HTTP, byte for byte alike."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from strictwire.canon.json import parse_object
from strictwire.fault.catalogue import CATALOGUE
from strictwire.fault.dialects.system_v1 import SYSTEM_ERROR_CODES
from strictwire.fault.reading import read_failure
from strictwire.profiles.mcp.results import PROTOCOL_CODES

ROOT = Path(__file__).parents[2]
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
Ask = Callable[[bytes], bytes]
RESOLVE_CODES = {"cache_missing", "cache_invalid", "invalid_query", "invalid_budget", "io_error", "internal_error"}
REQUIRED = [
    "error_code",
    "human_message",
    "role",
    "session_id",
    "workspace_root",
    "tool_name",
    "invariant_id",
    "phase_id",
    "plan_hash",
    "cause",
    "timestamp",
]


@cache
def schema(name: str) -> Any:
    text = (ROOT / "schemas" / "envelopes" / f"{name}.json").read_bytes()
    return jsonschema_rs.Draft202012Validator(parse_object(text), offline=True)


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "STRICTWIRE_AUDIT_MODE": "off", "STRICTWIRE_LOG_LEVEL": "error", **more}


def start(*arguments: str, **more: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "strictwire.cli.main", "serve", "failing:server", "--deterministic", *arguments]
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT / "tests" / "fixtures",
        env=environment(**more),
    )


def stdio_ask(process: subprocess.Popen[bytes]) -> Ask:
    assert process.stdin is not None
    assert process.stdout is not None
    source, sink = process.stdin, process.stdout

    def ask(raw: bytes) -> bytes:
        source.write(raw + b"\n")
        source.flush()
        return sink.readline().removesuffix(b"\n")

    return ask


def http_ask(connection: http.client.HTTPConnection) -> Ask:
    def ask(raw: bytes) -> bytes:
        name = json.loads(raw)["params"]["name"]
        headers = {
            "Content-Type": "application/json",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": name,
        }
        connection.request("POST", "/mcp", raw, headers)
        return connection.getresponse().read()

    return ask


def stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.communicate(timeout=20)


@pytest.fixture(scope="module")
def asks() -> Iterator[tuple[Ask, Ask]]:
    stdio, web = start("--stdio"), start("--http", "127.0.0.1:0")
    assert web.stderr is not None
    port = int(web.stderr.readline().decode().rsplit(":", 1)[1].split("/")[0])
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        yield stdio_ask(stdio), http_ask(connection)
    stop(stdio)
    stop(web)


def request(dialect: str, **arguments: Any) -> bytes:
    params = {"name": f"fail.{dialect.replace('/', '-')}", "arguments": {"code": "INTERNAL", **arguments}, "_meta": META}
    return json.dumps({"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": params}).encode()


def answer(asks: tuple[Ask, Ask], raw: bytes) -> Any:
    """The answer of both transports, which must be the same to the byte."""
    over_stdio, over_http = (ask(raw) for ask in asks)
    assert over_stdio == over_http
    return json.loads(over_stdio)


def envelope(asks: tuple[Ask, Ask], dialect: str, **arguments: Any) -> Any:
    """A tool failure travels as a result whose structured content and only text item are the same envelope."""
    result = answer(asks, request(dialect, **arguments))["result"]
    assert result["isError"] is True
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    assert len(result["content"]) == 1
    return result["structuredContent"]


TOOL_CODES = [code for code in CATALOGUE if code not in PROTOCOL_CODES]


@pytest.mark.clause("S1")
@pytest.mark.clause("S3")
@pytest.mark.parametrize("code", SYSTEM_ERROR_CODES)
def test_every_system_code_reaches_the_client_as_one_whole_envelope(asks: tuple[Ask, Ask], code: str) -> None:
    got = envelope(asks, "system/1.0", code=code)

    schema("system-error-1.0").validate(got)
    assert sorted(got) == sorted(REQUIRED)
    assert (got["error_code"], got["tool_name"]) == (code, "fail.system-1.0")


@pytest.mark.clause("R1")
@pytest.mark.clause("R2")
@pytest.mark.clause("R3")
@pytest.mark.clause("R6")
@pytest.mark.parametrize("code", TOOL_CODES)
def test_whatever_fails_in_resolve_v0_is_one_of_the_six(asks: tuple[Ask, Ask], code: str) -> None:
    got = envelope(asks, "resolve/v0", code=code)

    schema("error-v0").validate(got)
    assert got["error"]["code"] in RESOLVE_CODES


@pytest.mark.parametrize("code", TOOL_CODES)
def test_every_code_has_an_mcp_envelope(asks: tuple[Ask, Ask], code: str) -> None:
    got = envelope(asks, "mcp", code=code)

    schema("mcp-failure-1").validate(got)
    assert read_failure(got).code == got["error"]["code"]


@pytest.mark.parametrize("code", TOOL_CODES)
def test_every_code_of_mcp_v1_is_an_error_with_a_code_inside(asks: tuple[Ask, Ask], code: str) -> None:
    error = answer(asks, request("mcp/v1", code=code))["error"]

    schema("mcp-v1-error").validate(error)
    assert error["code"] in (-32602, -32603)
    assert error["data"]["code"]


@pytest.mark.clause("R5")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"budget": "5"}, "invalid_budget"),
        ({"budget": -1}, "invalid_budget"),
        ({"budget": -1, "query": 5, "cache": 5}, "invalid_budget"),
        ({"query": 5, "cache": 5}, "invalid_query"),
        ({"query": "A!"}, "invalid_query"),
        ({"cache": 5}, "cache_missing"),
        ({"unheard": 1}, "invalid_query"),
    ],
)
def test_bad_arguments_of_resolve_v0_are_judged_in_order(
    asks: tuple[Ask, Ask], arguments: dict[str, Any], code: str
) -> None:
    assert envelope(asks, "resolve/v0", **arguments)["error"]["code"] == code


@pytest.mark.clause("S12")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"n": "1"}, "INVALID_INPUT_TYPE"),
        ({"n": -1}, "INVALID_INPUT_VALUE"),
        ({"query": "A!"}, "INVALID_INPUT_FORMAT"),
        ({"unheard": 1}, "INVALID_INPUT_VALUE"),
    ],
)
def test_bad_arguments_of_system_1_have_the_code_of_their_kind(
    asks: tuple[Ask, Ask], arguments: dict[str, Any], code: str
) -> None:
    assert envelope(asks, "system/1.0", **arguments)["error_code"] == code


@pytest.mark.clause("S14")
@pytest.mark.clause("S6")
@pytest.mark.parametrize("how", ["error", "text", "object"])
def test_whatever_is_raised_becomes_an_envelope(asks: tuple[Ask, Ask], how: str) -> None:
    got = envelope(asks, "system/1.0", how=how)

    schema("system-error-1.0").validate(got)
    assert got["error_code"] == "UNKNOWN_TOOL_FAILURE"
    assert "hunter2" not in json.dumps(got)


@pytest.mark.clause("S14")
def test_an_invariant_is_named(asks: tuple[Ask, Ask]) -> None:
    got = envelope(asks, "system/1.0", how="invariant")

    assert (got["error_code"], got["invariant_id"]) == ("INVARIANT_VIOLATION", "MANDATORY_DIAGNOSTICS")


@pytest.mark.clause("S4")
def test_a_cause_is_normalised(asks: tuple[Ask, Ask]) -> None:
    got = envelope(asks, "system/1.0", how="cause", code="FILE_NOT_FOUND")

    assert got["cause"] == {"message": "m", "code": "ENOENT", "name": "OSError"}


@pytest.mark.clause("S9")
@pytest.mark.clause("S14")
def test_before_a_session_its_fields_are_null_and_phase_and_plan_are_preserved(asks: tuple[Ask, Ask]) -> None:
    got = envelope(asks, "system/1.0", phase_id="PHASE_5A", plan_hash="ab" * 32)

    assert [got[name] for name in ("session_id", "workspace_root", "role")] == [None, None, None]
    assert (got["phase_id"], got["plan_hash"]) == ("PHASE_5A", "ab" * 32)


@pytest.mark.clause("S2")
@pytest.mark.parametrize(("value", "shown"), [("true", True), ("TRUE", False), ("1", False)])
def test_a_stack_trace_appears_only_when_it_is_asked_for(value: str, shown: bool) -> None:
    process = start("--stdio", DEBUG_STACK=value)
    got = json.loads(stdio_ask(process)(request("system/1.0", how="error")))["result"]["structuredContent"]
    stop(process)

    schema("system-error-1.0").validate(got)
    assert ("stack_trace" in got) is shown
    assert "hunter2" not in json.dumps(got)


@pytest.mark.slow
@pytest.mark.clause("S13")
@pytest.mark.parametrize(
    ("arguments", "more", "code"),
    [
        (["--pack", "nowhere"], {}, "BOOTSTRAP_FAILURE"),
        (["--http", "192.0.2.1:0"], {}, "BOOTSTRAP_FAILURE"),
        (["--stdio"], {"STRICTWIRE_SERVER_PROT": "1"}, "BOOTSTRAP_FAILURE"),
        (["--stdio"], {"STRICTWIRE_AUDIT_MODE": "sync", "STRICTWIRE_AUDIT_FOLDER": "/proc/nowhere"}, "BOOTSTRAP_FAILURE"),
    ],
)
def test_a_failure_to_start_is_an_envelope_on_stderr_with_exit_1(
    arguments: list[str], more: dict[str, str], code: str
) -> None:
    process = start(*arguments, **more)
    out, err = process.communicate(timeout=20)
    got = json.loads(err.splitlines()[-1])

    schema("system-error-1.0").validate(got)
    assert (process.returncode, out, got["error_code"], got["tool_name"]) == (1, b"", code, "startup")


@pytest.mark.slow
@pytest.mark.clause("R7")
@pytest.mark.clause("V10")
@pytest.mark.parametrize("dialect", ["mcp", "mcp/v1", "resolve/v0", "system/1.0"])
def test_the_same_failing_call_a_thousand_times_gives_the_same_bytes(asks: tuple[Ask, Ask], dialect: str) -> None:
    raw = request(dialect, code="FILE_NOT_FOUND")

    assert len({ask(raw) for ask in asks for _ in range(1000)}) == 1


@pytest.mark.clause("S13")
def test_a_server_whose_module_raises_is_an_envelope_too(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("raise ZeroDivisionError('x')", encoding="utf-8")
    command = [sys.executable, "-m", "strictwire.cli.main", "serve", "broken:server", "--stdio"]
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, env=environment(), check=False, timeout=20)

    got = json.loads(done.stderr.splitlines()[-1])
    schema("system-error-1.0").validate(got)
    assert (done.returncode, done.stdout, got["error_code"]) == (1, b"", "BOOTSTRAP_FAILURE")


@pytest.mark.clause("S13")
def test_a_tool_that_is_not_as_it_was_pinned_fails_the_self_check(tmp_path: Path) -> None:
    lock = tmp_path / "tools.lock"
    pinned = [sys.executable, "-m", "strictwire.cli.main", "pin", "--lock", str(lock), str(ROOT / "schemas")]
    subprocess.run(pinned, check=True, capture_output=True, timeout=60)
    served = [sys.executable, "-m", "strictwire.cli.main", "serve", "--stdio", "--pack", "basics"]
    settings = environment(STRICTWIRE_SERVER_LOCK=str(lock))

    fine = subprocess.run(served, input=b"", capture_output=True, cwd=tmp_path, env=settings, check=False, timeout=60)
    lock.write_bytes(lock.read_bytes().replace(b'"sha256:', b'"sha256:0', 1))
    broken = subprocess.run(served, input=b"", capture_output=True, cwd=tmp_path, env=settings, check=False, timeout=60)

    got = json.loads(broken.stderr.splitlines()[-1])
    schema("system-error-1.0").validate(got)
    assert (fine.returncode, broken.returncode, got["error_code"]) == (0, 1, "SELF_AUDIT_FAILURE")
