"""The settings of the guard, converted to the values of the gateway."""

from __future__ import annotations

from pathlib import Path

import pytest

from strictwire.gateway.links.connector import UpstreamTarget
from strictwire.gateway.many.naming import Naming
from strictwire.gateway.options import Mode, RelayOptions
from strictwire.gateway.policy.argument_paths import conditions_of
from strictwire.gateway.policy.guard_policy import PolicyRules
from strictwire.gateway.policy.rates import RateLimit
from strictwire.gateway.policy.rules import Effect, Filter, Rule
from strictwire.server.guarded import Guarded, guarded_of, policy_rules_of
from strictwire.settings.guard_model import GuardSettings
from strictwire.settings.read import SettingsRefused, read_settings

WHOLE = """
[guard]
mode = "warn"
default = "deny"

[guard.upstreams.files]
command = ["files", "--root", "/srv"]
env = ["FILES_*"]
set_env = { DEBUG = "1" }
cwd = "/srv"
prefix = "fs_"
rename = { list = "ls" }
allow = ["read*"]
deny = ["*all"]
resources = ["file:///srv/*"]
lock = "files.lock"
tier = "pro"
roles = ["editor"]
timeout_seconds = 5
max_concurrent = 3

[guard.upstreams.files.tools.read]
mode = "enforce"
roles = []
timeout_seconds = 1.5

[guard.upstreams.far]
url = "https://far.example/mcp"
token_env = "FAR_TOKEN"
mode = "observe"
mask = false
bridge = false

[[guard.rules]]
effect = "deny"
tools = ["fs_*"]
arguments = { "/path" = "/etc/*" }

[[guard.rules]]
name = "staff"
effect = "allow"
roles = ["staff"]

[[guard.limits]]
calls = 10
"""

ENVIRONMENT = {"PATH": "/bin", "LC_ALL": "C", "FILES_KEY": "k", "FAR_TOKEN": "t", "OTHER_SECRET": "s"}


def guard_of(tmp_path: Path, text: str) -> GuardSettings:
    (tmp_path / "strictwire.toml").write_text(text)
    return read_settings(file=tmp_path / "strictwire.toml", environment={}).guard


def test_every_setting_of_an_upstream_is_converted(tmp_path: Path) -> None:
    files, far = guarded_of(guard_of(tmp_path, WHOLE), ENVIRONMENT)
    options = RelayOptions(mode=Mode.WARN, idle_seconds=5, concurrency=3, tier="pro", roles=frozenset({"editor"}))
    read = RelayOptions(mode=Mode.ENFORCE, idle_seconds=1.5, concurrency=3, tier="pro")
    env = {"PATH": "/bin", "LC_ALL": "C", "FILES_KEY": "k", "DEBUG": "1"}

    assert files == Guarded(
        target=UpstreamTarget(name="files", command=("files", "--root", "/srv"), env=env, cwd="/srv"),
        options=RelayOptions(
            mode=options.mode,
            idle_seconds=5,
            concurrency=3,
            tier="pro",
            roles=options.roles,
            tools={"read": read},
        ),
        tool_filter=Filter(allow=("read*",), deny=("*all",)),
        naming=Naming(prefix="fs_", rename={"list": "ls"}),
        resources=("file:///srv/*",),
        lock=Path("files.lock"),
    )
    assert far.target.headers == {"Authorization": "Bearer t"}
    assert far.options == RelayOptions(mode=Mode.OBSERVE, mask=False, bridge=False, tools={})


def test_the_mode_of_the_command_line_overrides_all_others(tmp_path: Path) -> None:
    files, far = guarded_of(guard_of(tmp_path, WHOLE), ENVIRONMENT, Mode.OBSERVE)

    assert {files.options.mode, files.options.tools["read"].mode, far.options.mode} == {Mode.OBSERVE}


def test_unnamed_rules_and_limits_are_named_by_their_place(tmp_path: Path) -> None:
    deny = Rule(name="guard.rules[0]", effect=Effect.DENY, tools=("fs_*",), arguments=conditions_of({"/path": "/etc/*"}))
    staff = Rule(name="staff", effect=Effect.ALLOW, roles=("staff",))
    limit = RateLimit(name="guard.limits[0]", calls=10, seconds=60.0, burst=10)

    assert policy_rules_of(guard_of(tmp_path, WHOLE), dry_run=True) == PolicyRules(
        rules=(deny, staff), limits=(limit,), default=Effect.DENY, dry_run=True
    )


def test_a_missing_token_is_refused_with_the_name_of_the_upstream(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"guard\.upstreams\.far: the environment variable FAR_TOKEN is not set"):
        guarded_of(guard_of(tmp_path, WHOLE), {})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[guard.upstreams.a]", "either a command or a url"),
        ("[guard.upstreams.a]\ncommand = ['x']\nurl = 'http://x'", "either a command or a url"),
        ("[guard.upstreams.a]\nurl = 'ftp://x'", "begins with http:// or https://"),
        ("[guard.upstreams.a]\ncommand = ['x']\ntoken_env = 'T'", "pass the variable to a command with env"),
        ("[guard.upstreams.a]\ncommand = 'x y'", "guard.upstreams"),
        ("[guard.upstreams.a]\ncomand = ['x']", "did you mean 'guard.upstreams.a.command'?"),
        ("[guard.upstreams.a.tools.t]\nmod = 'warn'", "did you mean 'guard.upstreams.a.tools.t.mode'?"),
        ("[guard.upstreams.a]\ncommand = ['x']\nprefix = 'a b'", "prefix: expected"),
        ("[guard.upstreams.a]\ncommand = ['x']\nrename = { a = 'x', b = 'x' }", "two tools have the same new name"),
        ("[guard.upstreams.a]\ncommand = ['x']\nrename = { a = '' }", "rename: a: expected"),
        ("[guard.upstreams.a]\ncommand = ['x']\ntrust_on_first_use = true", "also set lock"),
        ("[guard.upstreams.a]\ncommand = ['x']\ntimeout_seconds = 0", "timeout_seconds: expected"),
        ("[guard.upstreams.a]\ncommand = ['x']\nmax_response_bytes = 1", "max_response_bytes: expected"),
        (
            "[guard.upstreams.a]\ncommand = ['x']\n[guard.upstreams.a.tools.t]\nmax_concurrent = 0",
            "max_concurrent: expected",
        ),
        ("[guard.upstreams.'a.b']\ncommand = ['x']", "'a.b': expected 1 to 64"),
        ("[[guard.rules]]\ntools = ['x']", "effect"),
        ("[[guard.rules]]\neffect = 'maybe'", "effect"),
        ("[[guard.rules]]\neffect = 'deny'\nrole = ['x']", "did you mean 'guard.rules.roles'?"),
        ("[[guard.limits]]\ncalls = 0", "calls: expected"),
        ("[[guard.limits]]\ncalls = 1\nseconds = 0", "seconds: expected"),
        ("[guard]\nmode = 'loose'", "mode"),
    ],
)
def test_an_invalid_setting_is_refused_with_advice(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(SettingsRefused) as caught:
        guard_of(tmp_path, text)

    assert words in str(caught.value)
