"""docs/UNITY.md, the hook and the action say what the program does."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

from strictwire.cli.main import Parser
from strictwire.cli.unity import configure
from strictwire.packs.unity.check.policy import parse_unity_settings
from strictwire.packs.unity.check.rules import RULES

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs" / "UNITY.md").read_text(encoding="utf-8")


def test_the_page_lists_every_rule_with_its_severity() -> None:
    rows = re.findall(r"^\| `([A-Z_]+)` \| (\w+) \| (.+) \|$", PAGE, re.MULTILINE)
    expected = [
        (rule.id, rule.severity.value if rule.severity else "off", rule.purpose.removeprefix("Checks that ").rstrip("."))
        for rule in RULES.values()
    ]

    assert rows == expected


def test_the_settings_of_the_page_are_accepted() -> None:
    blocks = [each for each in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL) if "[unity.check]" in each]

    assert len(blocks) == 1
    policy = parse_unity_settings(tomllib.loads(blocks[0])["unity"])
    assert policy.baseline == "unity-baseline.json"
    assert [each.rule for each in policy.waivers] == ["GUID_UNIQUE"]


def test_commands_of_the_page_the_hook_and_the_action_parse() -> None:
    hook = (ROOT / ".pre-commit-hooks.yaml").read_text()
    action = (ROOT / "action.yml").read_text()
    commands = re.findall(r"^\$ (strictwire unity .*)$", PAGE, re.MULTILINE)
    commands += re.findall(r"entry: (strictwire unity .*)", hook)
    commands += [
        each.replace('${BASELINE:+--baseline "$BASELINE"}', "--baseline x")
        for each in re.findall(r"run: (strictwire unity .*)", action)
    ]
    parser = Parser(prog="strictwire unity")
    configure(parser)

    assert len(commands) >= 7
    for command in commands:
        parser.parse_args(shlex.split(command)[2:])
