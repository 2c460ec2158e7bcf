"""`strictwire guard`, started as a user or a client starts it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.fixtures.guards import STRICTWIRE, guard_http
from tests.fixtures.live import PATIENCE, environment, initialize, legacy, modern

from strictwire.canon.json import parse_object
from strictwire.cli.main import main

FAKE = str(Path(__file__).parent.parent / "fixtures" / "fake_upstream.py")
CALL = {"name": "act", "arguments": {"x": 1}}


def guard(*arguments: str, stdin: bytes) -> subprocess.CompletedProcess[bytes]:
    command = [STRICTWIRE, "guard", *arguments, "--", sys.executable, "-S", FAKE, "good"]
    return subprocess.run(command, input=stdin, env=environment(), capture_output=True, timeout=PATIENCE, check=False)


def test_requests_before_the_end_of_input_are_answered() -> None:
    done = guard(stdin=modern(1, "tools/call", CALL) + b"\n")

    assert done.returncode == 0
    assert [parse_object(line)["result"]["structuredContent"] for line in done.stdout.splitlines()] == [{"y": 1}]


def test_a_legacy_session_works_over_stdio() -> None:
    """The client sends everything in one write: no request may overtake the end of the handshake."""
    opening = subprocess.Popen(
        [STRICTWIRE, "guard", "--", sys.executable, "-S", FAKE, "tells_state"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(),
    )
    with opening:
        assert opening.stdin is not None
        assert opening.stdout is not None
        opening.stdin.write(initialize() + b"\n")
        opening.stdin.flush()
        opened = parse_object(opening.stdout.readline())
        initialized = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
        opening.stdin.write(initialized + b"\n" + legacy(1, "ping") + b"\n" + legacy(2, "tools/call", CALL) + b"\n")
        opening.stdin.close()
        answers = {answer["id"]: answer["result"] for answer in map(parse_object, opening.stdout)}
    seen = [method for method, _ in answers[2]["structuredContent"]["seen"]]

    assert opened["result"]["protocolVersion"] == "2025-11-25"
    assert sorted(answers) == [1, 2]
    assert seen[:2] == ["initialize", "notifications/initialized"]


def test_upstream_output_that_is_not_json_rpc_never_reaches_standard_output() -> None:
    command = [STRICTWIRE, "guard", "--", sys.executable, "-S", FAKE, "noise_before"]
    stdin = modern(1, "tools/call", CALL) + b"\n"
    done = subprocess.run(command, input=stdin, env=environment(), capture_output=True, timeout=PATIENCE, check=False)

    assert [parse_object(line)["id"] for line in done.stdout.splitlines()] == [1]


def test_the_guard_prints_its_url() -> None:
    with guard_http("--", sys.executable, "-S", FAKE, "good") as url:
        assert url.startswith("http://127.0.0.1:")
        assert url.endswith("/mcp")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "no server given"),
        (["--upstream-http", "http://x/mcp", "--", "cmd"], "two servers given"),
        (["--http", "nowhere", "--", "cmd"], "expected HOST:PORT"),
        (["--timeout", "0", "--", "cmd"], "--timeout"),
        (["--trust-on-first-use", "--", "cmd"], "needs --lock"),
        (["--upstream-http", "http://x/mcp", "--upstream-token-env", "NO_SUCH_VARIABLE"], "is not set"),
    ],
)
def test_wrong_usage_prints_the_reason(arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["guard", *arguments]) == 2
    assert reason in capsys.readouterr().err


def test_a_guard_on_a_public_address_needs_a_token(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["guard", "--http", "0.0.0.0:0", "--", "cmd"]) == 1
    assert "server.tokens" in capsys.readouterr().err


CROWD = Path(__file__).parent.parent / "fixtures" / "crowd_upstream.py"


def settings(folder: Path, *tables: str) -> str:
    """A settings file with the upstream `a` and the given tables."""
    file = folder / "strictwire.toml"
    file.write_text("\n".join([table("a", prefix="a_"), *tables]))
    return str(file)


def table(name: str, *, prefix: str = "", offer: str = "{}") -> str:
    command = [sys.executable, "-S", str(CROWD), name, offer]
    return f"[guard.upstreams.{name}]\ncommand = {command!r}\nprefix = {prefix!r}\n"


def test_all_servers_of_the_settings_are_served(tmp_path: Path) -> None:
    stdin = modern(1, "tools/list") + b"\n" + modern(2, "tools/call", {"name": "b_who"}) + b"\n"
    command = [STRICTWIRE, "guard", "--config", settings(tmp_path, table("b", prefix="b_"))]
    done = subprocess.run(command, input=stdin, env=environment(), capture_output=True, timeout=PATIENCE, check=False)
    answers = {answer["id"]: answer["result"] for answer in map(parse_object, done.stdout.splitlines())}

    assert done.returncode == 0
    assert [tool["name"] for tool in answers[1]["tools"]] == ["a_who", "b_who"]
    assert '"server": "b"' in answers[2]["content"][0]["text"]


def test_only_listed_environment_variables_reach_an_upstream(tmp_path: Path) -> None:
    show = f"import os; open({str(tmp_path / 'seen')!r}, 'w').write(' '.join(os.environ))"
    text = f"[guard.upstreams.a]\ncommand = {[sys.executable, '-S', '-c', show]!r}\nenv = ['WANTED_*']\nprefix = 'a_'\n"
    (tmp_path / "strictwire.toml").write_text(text)
    command = [STRICTWIRE, "guard", "--config", str(tmp_path / "strictwire.toml")]
    env = environment({"WANTED_KEY": "1", "MY_SECRET": "2"})
    subprocess.run(command, input=b"", env=env, capture_output=True, timeout=PATIENCE, check=False)
    seen = (tmp_path / "seen").read_text().split()

    assert "WANTED_KEY" in seen
    assert "PATH" in seen
    assert "MY_SECRET" not in seen


def test_a_name_clash_is_reported_at_the_start_with_a_solution(tmp_path: Path) -> None:
    command = [STRICTWIRE, "guard", "--config", settings(tmp_path, table("b"), table("c"))]
    done = subprocess.run(command, input=b"", env=environment(), capture_output=True, timeout=PATIENCE, check=False)

    assert done.returncode == 1
    assert b"the tool 'who' is offered by two upstreams, 'b' and 'c': set prefix = \"c_\"" in done.stderr


def test_check_shows_what_every_server_offers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = table("b", prefix="b_", offer='{"tools": ["x", "y"], "prompts": ["p"], "only": "legacy"}')
    file = settings(tmp_path, more)
    code = main(["guard", "--check", "--config", file])

    assert code == 0
    assert capsys.readouterr().out.splitlines() == [
        "a  up: a (modern), 1 tools",
        "b  up: b (legacy), 2 tools, 1 prompts",
    ]


def test_check_reports_servers_that_do_not_start_and_name_clashes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = settings(tmp_path, table("down", offer='{"die": true}'), table("b"), table("c"))
    code = main(["guard", "--check", "--config", file])
    lines = capsys.readouterr().out.splitlines()

    assert code == 100
    assert lines[1] == "down  down: it ended with exit code 4"
    assert lines[4].startswith("clash: the tool 'who' is offered by two upstreams, 'b' and 'c'")


def test_the_policy_of_the_settings_also_applies_to_a_server_of_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "strictwire.toml").write_text("[[guard.rules]]\neffect = 'deny'\ntools = ['act']\n")
    done = guard("--config", str(tmp_path / "strictwire.toml"), stdin=modern(1, "tools/call", CALL) + b"\n")
    dry = guard("--dry-run", "--config", str(tmp_path / "strictwire.toml"), stdin=modern(1, "tools/call", CALL) + b"\n")

    assert b"PERMISSION_DENIED" in done.stdout
    assert parse_object(dry.stdout)["result"]["structuredContent"] == {"y": 1}
    assert b"dry run: act of local would be PERMISSION_DENIED" in dry.stderr


def test_options_for_one_server_are_refused_without_a_server_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["guard", "--deny", "x", "--config", settings(tmp_path)]) == 2
    assert (
        "--deny needs a server on the command line; for others, set it in [guard.upstreams.NAME]" in capsys.readouterr().err
    )
