"""A caller that tries to get around the policy, or to take the guard away from others, in front of a real guard process."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from strictwire.canon.json import parse_object
from tests.fixtures.guards import STRICTWIRE
from tests.fixtures.live import INITIALIZED, PATIENCE, environment, initialize, legacy, modern, request, wait_for
from tests.gateway.guard_process import (
    ERAS,
    bearer,
    code_of,
    guard,
    guard_over_http,
    token,
    upstream,
    write_settings,
)

pytestmark = pytest.mark.slow

OPEN = {"type": "object", "additionalProperties": True}
DENIED = "PERMISSION_DENIED"


def rule(**keys: Any) -> str:
    """The table of a rule. TOML writes lists and scalars as JSON does."""
    arguments = keys.pop("arguments", {})
    lines = [f"{name} = {json.dumps(value)}" for name, value in keys.items()]
    inline = ", ".join(f"{json.dumps(path)} = {json.dumps(value)}" for path, value in arguments.items())
    return "\n".join(["[[guard.rules]]", *lines, f"arguments = {{ {inline} }}"]) + "\n"


@pytest.mark.parametrize(
    ("path", "pattern", "attacks"),
    [
        (
            "/options/path",
            "/etc/*",
            [
                {"options": {"path": "/etc/shadow"}},
                {"options.path": "/tmp/x", "options": {"path": "/etc/shadow"}},
                {"options/path": "/tmp/x", "options": {"path": "/etc/shadow"}},
                {"/options/path": "/tmp/x", "options": {"path": "/etc/shadow"}},
                {"options": [{"path": "/tmp/x"}, {"path": "/etc/shadow"}]},
                {"options": {"path": ["/tmp/x", "/etc/shadow"]}},
            ],
        ),
        ("/port", "22", [{"port": 22}, {"port": 22.0}, {"port": "22"}, {"port": [80, 22.0]}]),
        ("/port", 22, [{"port": 22.0}]),
        ("/files/*/path", "/etc/*", [{"files": [{"path": "/etc/shadow"}]}, {"files": {"a": {"path": "/etc/shadow"}}}]),
        ("/**/path", "/etc/*", [{"a": {"b": [{"path": "/etc/shadow"}]}}, {"path": "/etc/shadow"}]),
    ],
)
def test_a_deny_rule_on_an_argument_finds_it_however_it_is_wrapped(
    tmp_path: Path, path: str, pattern: object, attacks: list[dict[str, Any]]
) -> None:
    deny = rule(name="no", effect="deny", tools=["who"], arguments={path: pattern})
    with guard(write_settings(tmp_path, deny, upstream("a", schema=OPEN))) as client:
        outcomes = [client.call("who", **each) for each in attacks]

        assert outcomes == [DENIED] * len(attacks)
        assert client.call("who", options={"path": "/tmp/x"}, port=80, files=[])["server"] == "a"


def test_an_allow_rule_on_an_argument_is_not_satisfied_by_a_decoy(tmp_path: Path) -> None:
    allow = rule(name="only", effect="allow", tools=["who"], arguments={"/options/path": "/srv/*"})
    attacks: list[dict[str, Any]] = [
        {"options.path": "/srv/x", "options": {"path": "/etc/shadow"}},
        {"options/path": "/srv/x", "options": {"path": "/etc/shadow"}},
        {"options": [{"path": "/srv/x"}, {"path": "/etc/shadow"}]},
        {"options.path": "/srv/x"},
        {},
    ]
    with guard(write_settings(tmp_path, allow, upstream("a", schema=OPEN))) as client:
        outcomes = [client.call("who", **each) for each in attacks]

        assert outcomes == [DENIED] * len(attacks)
        assert client.call("who", options={"path": "/srv/x"})["server"] == "a"


def test_the_dotted_syntax_is_refused_with_the_pointer_to_write_instead(tmp_path: Path) -> None:
    deny = rule(effect="deny", arguments={"options.path": "/etc/*"})
    with guard(write_settings(tmp_path, deny, upstream("a"))) as client:
        assert client.process.process.wait(PATIENCE) == 1

    assert b"'options.path' is not a JSON Pointer; write '/options/path'" in b"".join(client.process.errors)


EVERYTHING = {
    "tools": ["who"],
    "prompts": ["p", "q"],
    "resources": ["a:1", "a:2"],
    "templates": ["a:/{x}", "b:/pub/{x}"],
}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("several", [False, True])
def test_a_default_of_deny_covers_everything_that_an_upstream_offers(tmp_path: Path, era: str, several: bool) -> None:
    default = '[guard]\ndefault = "deny"\n'
    rules = [
        rule(name="tool", effect="allow", tools=["who"]),
        rule(name="prompt", effect="allow", prompts=["q"]),
        rule(name="resource", effect="allow", resources=["a:2", "b:/pub/*"]),
    ]
    more = [upstream("z", 'prefix = "z_"')] if several else []
    with guard(write_settings(tmp_path, default, *rules, upstream("a", **EVERYTHING), *more), era) as client:
        lists = {
            method: client.keys(method)
            for method in ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
        }
        argument = {"name": "x", "value": "y"}
        requests: list[tuple[str, dict[str, Any]]] = [
            ("prompts/get", {"name": "p"}),
            ("resources/read", {"uri": "a:1"}),
            ("resources/read", {"uri": "A:1"}),
            ("resources/read", {"uri": "b:/pub/../secret"}),
            ("resources/read", {"uri": "b:/pub/%2e%2e%2Fsecret"}),
            ("completion/complete", {"ref": {"type": "ref/prompt", "name": "p"}, "argument": argument}),
            ("completion/complete", {"ref": {"type": "ref/resource", "uri": "a:/{x}"}, "argument": argument}),
        ]
        requests += [("resources/subscribe", {"uri": "a:1"})] if era == "legacy" else []
        denied = [code_of(client.reply(method, **params)) for method, params in requests]
        allowed = [
            client.reply("prompts/get", name="q"),
            client.reply("resources/read", uri="a:2"),
            client.reply("resources/read", uri="b:/pub/7"),
            client.reply("completion/complete", ref={"type": "ref/prompt", "name": "q"}, argument=argument),
        ]
        allowed += [client.reply("resources/subscribe", uri="a:2")] if era == "legacy" else []
        unknown = client.reply("vendor/secrets")

        assert client.call("who")["server"] == "a"

    assert lists == {
        "tools/list": ["who"],
        "prompts/list": ["q"],
        "resources/list": ["a:2"],
        "resources/templates/list": ["b:/pub/{x}"],
    }
    assert [code for code in denied if code != DENIED] == []
    assert all("result" in each for each in allowed)
    assert unknown["error"]["code"] == -32601


@pytest.mark.parametrize("era", ERAS)
def test_what_no_rule_allows_is_denied_whatever_its_kind(tmp_path: Path, era: str) -> None:
    default, allow = '[guard]\ndefault = "deny"\n', rule(name="tool", effect="allow", tools=["who"])
    with guard(write_settings(tmp_path, default, allow, upstream("a", **EVERYTHING)), era) as client:
        lists = [client.keys(f"{kind}/list") for kind in ("tools", "prompts", "resources", "resources/templates")]
        refs = [{"type": "ref/prompt", "name": "p"}, {"type": "ref/resource", "uri": "a:/{x}"}]
        answers = [
            client.reply("prompts/get", name="p"),
            client.reply("resources/read", uri="a:1"),
            *(client.reply("completion/complete", ref=each, argument={"name": "x", "value": "y"}) for each in refs),
        ]

    assert lists == [["who"], [], [], []]
    assert [code_of(each) if "error" in each else each for each in answers] == [DENIED] * 4


@pytest.mark.parametrize("several", [False, True])
def test_no_change_of_a_denied_resource_is_notified(tmp_path: Path, several: bool) -> None:
    deny = rule(name="no", effect="deny", resources=["a:1"])
    more = [upstream("z", 'prefix = "z_"')] if several else []
    with guard(write_settings(tmp_path, deny, upstream("a", **EVERYTHING), *more)) as client:
        wanted = {"resourceSubscriptions": ["a:1", "a:2"]}
        client.process.send(modern("sub", "subscriptions/listen", {"notifications": wanted}))
        acknowledged, updated = client.process.receive(), client.process.receive()

    assert acknowledged["params"]["notifications"] == {"resourceSubscriptions": ["a:2"]}
    assert updated["params"]["uri"] == "a:2"


def test_role_and_tier_of_an_upstream_cover_its_prompts_and_resources(tmp_path: Path) -> None:
    with guard(write_settings(tmp_path, upstream("a", 'roles = ["admin"]', **EVERYTHING))) as client:
        lists = [client.keys(f"{kind}/list") for kind in ("tools", "prompts", "resources", "resources/templates")]
        denied = [
            code_of(client.reply("prompts/get", name="p")),
            code_of(client.reply("resources/read", uri="a:1")),
        ]

    assert lists == [[], [], [], []]
    assert denied == [DENIED, DENIED]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (rule(name="r", effect="deny", tools=["wo"]), "r: no tool matches 'wo'; did you mean 'who'?"),
        (rule(name="r", effect="deny", prompts=["x*"]), "r: no prompt matches 'x*'"),
        (rule(name="r", effect="deny", upstreams=["b"]), "r: no upstream matches 'b'"),
        (rule(name="r", effect="deny", arguments={"/y": "1"}), "r: nothing that it covers has the argument '/y'"),
        (rule(name="r", effect="deny", resources=["f:*"]), "r: no upstream that it covers offers resources"),
        ('[[guard.limits]]\nname = "l"\ncalls = 1\ntools = ["wo"]\n', "l: no tool matches 'wo'"),
    ],
)
def test_a_rule_that_refers_to_nothing_is_refused_at_the_start(tmp_path: Path, table: str, words: str) -> None:
    with guard(write_settings(tmp_path, table, upstream("a", prompts=["p"]))) as client:
        assert client.process.process.wait(PATIENCE) == 1

    assert words in b"".join(client.process.errors).decode()


@pytest.mark.parametrize("keys", ['deny = ["wo"]', 'allow = ["who", "x"]', 'rename = { wo = "x" }'])
def test_a_table_of_an_upstream_that_refers_to_nothing_is_refused_at_the_start(tmp_path: Path, keys: str) -> None:
    with guard(write_settings(tmp_path, upstream("a", keys))) as client:
        assert client.process.process.wait(PATIENCE) == 1

    assert f"guard.upstreams.a.{keys.split()[0]}: no tool matches" in b"".join(client.process.errors).decode()


def test_a_rule_whose_target_disappears_is_logged(tmp_path: Path) -> None:
    marker, deny = tmp_path / "now", rule(name="no", effect="deny", tools=["danger"])
    changing = upstream("a", tools=["danger", "who"], marker=str(marker), later={"tools": ["menace", "who"]})
    with guard(write_settings(tmp_path, deny, changing)) as client:
        client.call("who")
        marker.touch()
        client.keys("tools/list")
        client.call("who")
        expected = b"the policy refers to nothing: no: no tool matches 'danger'"
        wait_for(lambda: any(expected in line for line in client.process.errors))


@pytest.mark.slow
def test_one_caller_cannot_end_the_sessions_of_another(tmp_path: Path) -> None:
    """Two hundred sessions are all that the guard keeps for an upstream process."""
    settings = write_settings(tmp_path, token("ann"), token("bob"), upstream("a", only="modern", tools=["who", "wait"]))
    with guard_over_http(settings) as process:
        opened = process.post(initialize(), bearer("ann"))
        session = {"Mcp-Session-Id": str(opened.headers["Mcp-Session-Id"]), **bearer("ann")}
        process.post(INITIALIZED, session)
        answers: list[Any] = []
        call = legacy(7, "tools/call", {"name": "wait", "arguments": {}})
        waiting = threading.Thread(target=lambda: answers.append(process.post(call, session)), daemon=True)
        waiting.start()
        statuses = {process.post(initialize(), bearer("bob")).status for _ in range(201)}
        still_there = process.post(legacy(8, "ping"), session)
        is_running = waiting.is_alive()
        process.post(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}', session)
        waiting.join(PATIENCE)

    assert statuses == {200}
    assert (still_there.status, still_there.json()) == (200, {"jsonrpc": "2.0", "id": 8, "result": {}})
    assert (is_running, waiting.is_alive()) == (True, False)


def test_a_caller_whose_sessions_are_all_busy_gets_no_more(tmp_path: Path) -> None:
    limit = "[guard]\nsessions_per_principal = 1\n"
    settings = write_settings(tmp_path, limit, upstream("a", only="modern", tools=["wait"]))
    with guard_over_http(settings) as process:
        session = process.open_session()
        call = legacy(7, "tools/call", {"name": "wait", "arguments": {}})
        with process.connect() as connection:
            connection.write(request(call, session, port=process.port))
            wait_for(lambda: process.post(legacy(7, "ping"), session).json().get("error"))
            refused = process.post(initialize())

    assert code_of(refused.json()) == "OVERLOADED"


def test_an_abandoned_session_ends_with_its_process(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    pids.mkdir()
    limit = "[guard]\nsession_idle_seconds = 0.5\n"
    settings = write_settings(tmp_path, limit, upstream("a", only="legacy", pids=str(pids)))
    with guard_over_http(settings) as process:
        session = process.open_session()
        wait_for(lambda: all(not Path(f"/proc/{each.name}").exists() for each in pids.iterdir()))
        gone = process.post(legacy(1, "ping"), session)

    assert gone.status == 404


@pytest.mark.parametrize("era", ERAS)
def test_settings_of_the_working_folder_are_not_read(tmp_path: Path, era: str) -> None:
    """A cloned repository must not switch off the guard that a client starts in it."""
    repository, home = tmp_path / "repository", tmp_path / "home"
    (home / "strictwire").mkdir(parents=True)
    repository.mkdir()
    (repository / "strictwire.toml").write_text(
        '[guard]\nmode = "observe"\ndry_run = true\n[log]\nlevel = "error"\n[audit]\nmode = "off"\n'
    )
    (home / "strictwire" / "strictwire.toml").write_text(rule(name="own", effect="deny", tools=["who"]))
    crowd = Path(__file__).parents[1] / "fixtures" / "crowd_upstream.py"
    offer = '{"tools": ["who", "other"]}'
    command = [STRICTWIRE, "guard", "--", sys.executable, "-S", str(crowd), "a", offer]
    make, opening = (modern, b"") if era == "modern" else (legacy, initialize() + b"\n" + INITIALIZED + b"\n")
    calls = [
        make(1, "tools/call", {"name": "who", "arguments": {}}),
        make(2, "tools/call", {"name": "other", "arguments": {"x": "no integer"}}),
    ]
    settled = environment({"XDG_CONFIG_HOME": str(home), "XDG_STATE_HOME": str(tmp_path / "state")})
    del settled["STRICTWIRE_AUDIT_MODE"]
    done = subprocess.run(
        command,
        input=opening + b"\n".join(calls) + b"\n",
        cwd=repository,
        env=settled,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    answers = {answer["id"]: answer["result"] for answer in map(parse_object, done.stdout.splitlines())}
    codes = [parse_object(answers[number]["content"][0]["text"].encode())["error"]["code"] for number in (1, 2)]

    log = tmp_path / "state/strictwire/audit/audit-log.jsonl"
    records = [parse_object(line) for line in log.read_bytes().splitlines()]

    assert codes == [DENIED, "INVALID_PARAMS"]
    assert {each["error_code"] for each in records if each["kind"] == "refusal"} == {DENIED, "INVALID_PARAMS"}
    assert b"strictwire.toml in the working folder is not read; use --config strictwire.toml" in done.stderr
