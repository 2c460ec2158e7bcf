"""The tools that ship with strictwire pass STRICT; every exception is a waiver with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from strictwire.check.policy import parse_policy
from strictwire.settings.read import read_settings
from strictwire.sources.verbs.lint import LintOptions, run_lint
from strictwire.sources.verbs.pin import PinOptions, run_pin_check

ROOT = Path(__file__).parents[2]


@pytest.mark.clause("G8")
def test_our_schemas_pass_strict_and_raw_paths_are_waived_with_a_reason() -> None:
    policy = parse_policy(read_settings(file=ROOT / "strictwire.toml", environment={}).lint)
    outcome = run_lint(LintOptions(source=str(ROOT / "schemas"), policy=policy))
    by_name = [waiver for waiver in policy.waivers if waiver.rule == "LOCATION_BY_URI"]

    assert (outcome.exit_code, policy.category.value) == (0, "STRICT")
    assert by_name
    assert all(waiver.reason for waiver in policy.waivers)


@pytest.mark.clause("G16")
def test_our_schemas_match_the_lock_file() -> None:
    outcome = run_pin_check(PinOptions(source=str(ROOT / "schemas"), lock=str(ROOT / "strictwire.lock")))

    assert outcome.exit_code == 0, outcome.text
