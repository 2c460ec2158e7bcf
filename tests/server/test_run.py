"""Start and stop: addresses, start-up failures that say what to do, and an author's file as a program."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from strictwire.canon.json import parse_object
from strictwire.server.run import StartRefused, check_exposure, parse_address
from strictwire.settings.model import ServerSettings, Settings, TokenSettings
from tests.fixtures.live import StdioProcess, command, modern, run, serve_http


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:8808", ("127.0.0.1", 8808)),
        ("8808", ("127.0.0.1", 8808)),
        (":0", ("127.0.0.1", 0)),
        ("[::1]:80", ("::1", 80)),
        ("example.org:65535", ("example.org", 65535)),
    ],
)
def test_an_address_is_parsed(text: str, address: tuple[str, int]) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize(
    "text", ["", "x", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "127.0.0.1:-1", "a:\u0661"]
)
def test_an_invalid_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected HOST:PORT"):
        parse_address(text)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_a_loopback_address_needs_no_token(host: str) -> None:
    check_exposure(host, Settings())


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1", "example.org", "localhost.evil.example", "2130706433"])
def test_any_other_address_needs_a_token(host: str) -> None:
    token = TokenSettings(sha256="0" * 64, principal="p")
    check_exposure(host, Settings(server=ServerSettings(tokens=(token,))))

    with pytest.raises(StartRefused, match="can be reached by others"):
        check_exposure(host, Settings())


def envelope(errors: bytes) -> dict[str, object]:
    """The last line of standard error: the failure for programs (S13)."""
    return parse_object(errors.strip().splitlines()[-1])


@pytest.mark.slow
@pytest.mark.clause("S13")
@pytest.mark.parametrize(
    ("env", "words"),
    [
        ({"STRICTWIRE_SERVER_PROT": "1"}, b"did you mean 'STRICTWIRE_SERVER_PORT'?"),
        ({"STRICTWIRE_SERVER_PORT": "many"}, b"expected an integer"),
        ({"STRICTWIRE_SERVER_PORT": "--5"}, b"expected an integer"),
        ({"STRICTWIRE_SERVER_PORT": "70000"}, b"from 0 to 65535"),
        ({"STRICTWIRE_SERVER_WORKER_THREADS": "0"}, b"from 1 to 1024"),
        ({"STRICTWIRE_AUDIT_MODE": "sync", "STRICTWIRE_AUDIT_FOLDER": "/dev/null/x"}, b"the audit trail cannot be written"),
    ],
)
def test_a_failure_to_start_is_an_envelope_on_standard_error(env: dict[str, str], words: bytes) -> None:
    done = run(command("hard:server", "--http", "127.0.0.1:0"), env=env)

    assert (done.returncode, done.stdout) == (1, b"")
    assert words in done.stderr
    assert b"Traceback" not in done.stderr
    assert envelope(done.stderr)["error_code"] == "BOOTSTRAP_FAILURE"


def test_a_taken_port_is_refused_with_advice() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run(command("hard:server", "--http", f"127.0.0.1:{taken.getsockname()[1]}"))

    assert done.returncode == 1
    assert b"choose another with --http HOST:PORT" in done.stderr


@pytest.mark.parametrize("place", ["nowhere:server", "hard:nothing", "hard:SECRET", ":server"])
def test_a_server_that_does_not_exist_is_a_usage_error(place: str) -> None:
    done = run(command(place, "--stdio"))

    assert (done.returncode, done.stdout) == (2, b"")
    assert b"Traceback" not in done.stderr


def test_stdio_and_http_exclude_each_other() -> None:
    assert run(command("hard:server", "--stdio", "--http", "127.0.0.1:0")).returncode == 2


def test_a_file_that_calls_server_run_is_a_program(tmp_path: Path) -> None:
    file = tmp_path / "clock.py"
    file.write_text(
        "from strictwire import Server\n"
        "server = Server('clock', version='1.0.0')\n"
        "@server.tool()\n"
        "def add(a: int, b: int) -> int:\n"
        "    'Adds.'\n"
        "    return a + b\n"
        "if __name__ == '__main__':\n"
        "    server.run()\n"
    )
    given = modern(1, "tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}}) + b"\n"
    done = run([sys.executable, str(file)], given=given)

    assert (done.returncode, b'"result":3' in done.stdout) == (0, True)


def test_the_audit_trail_is_written_to_the_folder_of_the_settings(tmp_path: Path) -> None:
    env = {
        "STRICTWIRE_AUDIT_MODE": "sync",
        "STRICTWIRE_AUDIT_FOLDER": str(tmp_path / "audit"),
        "STRICTWIRE_AUDIT_KEY": str(tmp_path / "key"),
    }
    with StdioProcess("hard:server", env=env) as process:
        assert "result" in process.ask(modern(1, "tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}}))
        assert "error" in process.ask(b"{")
        process.end_input()
        assert process.process.wait(20) == 0

    assert b'"tool_name":"add"' in (tmp_path / "audit" / "audit-log.jsonl").read_bytes()


def test_log_messages_go_to_stderr_from_the_configured_level() -> None:
    quiet = run(command("hard:server", "--stdio"), env={"STRICTWIRE_LOG_LEVEL": "error"})
    usual = run(command("hard:server", "--stdio"))

    assert (quiet.stderr, b"INFO strictwire: serving hard on stdio" in usual.stderr) == (b"", True)


def test_the_url_is_printed_when_the_server_listens() -> None:
    with serve_http("hard:server") as process:
        printed = b"".join(process.errors).decode()

    assert process.url in printed
