"""`strictwire explain` explains every rule and every failure code."""

from __future__ import annotations

import pytest

from strictwire.check.breaking import RULES as BREAKING
from strictwire.check.lint import RULES as LINT
from strictwire.check.reported import REPORTED
from strictwire.check.rule import Rule
from strictwire.cli.main import main
from strictwire.probe.definition import Probe
from strictwire.probe.table import PROBES


@pytest.mark.parametrize("rule", [*LINT, *BREAKING, *REPORTED], ids=lambda rule: rule.id)
def test_every_rule_is_explained_with_its_purpose_examples_and_advice(
    rule: Rule, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["explain", rule.id.lower()])
    text = capsys.readouterr().out

    assert (code, text.splitlines()[0]) == (0, rule.id)
    assert all(part in text for part in (rule.purpose, rule.bad, rule.good, rule.advice))


def test_every_rule_that_pin_reports_has_a_record() -> None:
    assert {rule.id for rule in REPORTED} == {
        "WAIVER_USED", "PIN_TOOL_KNOWN", "PIN_TOOL_PRESENT", "PIN_INPUT", "PIN_OUTPUT", "PIN_DESCRIPTION", "PIN_ANNOTATIONS",
    }  # fmt: skip


def test_a_misspelled_rule_gets_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "PIN_INPUTS"]) == 2
    assert "PIN_INPUT" in capsys.readouterr().err


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.id)
def test_every_probe_is_explained(probe: Probe, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["explain", probe.id.lower()])
    text = capsys.readouterr().out

    assert (code, text.splitlines()[0]) == (0, probe.id)
    assert all(part in text for part in (probe.purpose, probe.expected, probe.why))
