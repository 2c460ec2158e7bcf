"""Each rule against its test data; the list of rules, the rulesets and the generated page."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from strictwire.canon.json import parse_object
from strictwire.check.breaking import RULES as BREAKING
from strictwire.check.lint import RULES as LINT
from strictwire.check.render.rules import render_rules
from strictwire.check.rule import Rule
from strictwire.check.rulesets import CUMULATIVE, LATEST, RULESETS
from tests.check.rule_cases import (
    BREAKING_RULES,
    LINT_RULES,
    TESTDATA,
    found_by_breaking,
    found_by_lint,
)

REPLACED = {"INPUT_MEMBERS_KEPT"}
"""Rules that only older rulesets have: ARGUMENT_KEPT and INPUT_OPEN_KEPT say it better."""
ROOT = Path(__file__).parents[2]


def expected(rule: str) -> object:
    return parse_object((TESTDATA / rule / "expected.json").read_bytes())["findings"]


@pytest.mark.parametrize("rule", LINT, ids=lambda rule: rule.id)
def test_a_lint_rule_finds_exactly_what_is_expected_in_its_bad_example(rule: Rule) -> None:
    assert found_by_lint(rule, TESTDATA / rule.id / "bad") == expected(rule.id) != []


@pytest.mark.parametrize("rule", LINT, ids=lambda rule: rule.id)
def test_a_lint_rule_finds_nothing_in_its_good_example(rule: Rule) -> None:
    assert found_by_lint(rule, TESTDATA / rule.id / "good") == []


@pytest.mark.parametrize("rule", BREAKING, ids=lambda rule: rule.id)
def test_a_breaking_rule_finds_exactly_what_is_expected_between_its_examples(rule: Rule) -> None:
    assert found_by_breaking(rule, TESTDATA / rule.id) == expected(rule.id) != []


@pytest.mark.parametrize("rule", BREAKING, ids=lambda rule: rule.id)
def test_a_breaking_rule_finds_nothing_where_nothing_changed(rule: Rule, tmp_path: Path) -> None:
    for name in ("previous", "current"):
        (tmp_path / name).symlink_to(TESTDATA / rule.id / "previous")

    assert found_by_breaking(rule, tmp_path) == []


def test_every_test_data_folder_belongs_to_a_rule() -> None:
    assert {folder.name for folder in TESTDATA.iterdir()} == LINT_RULES.keys() | BREAKING_RULES.keys()


def test_rule_ids_are_unique_and_upper_snake() -> None:
    ids = [rule.id for rule in (*LINT, *BREAKING)]

    assert len(set(ids)) == len(ids)
    assert [each for each in ids if not each.replace("_", "").isalpha() or not each.isupper()] == []


def test_every_rule_has_a_purpose_advice_and_examples() -> None:
    incomplete = [
        rule.id
        for rule in (*LINT, *BREAKING)
        if not rule.purpose.startswith(("Checks that ", "Reports ")) or not (rule.advice and rule.bad and rule.good)
    ]

    assert incomplete == []


def test_the_published_ruleset_is_frozen() -> None:
    """An upgrade never changes the result under an old ruleset: a new or better rule joins the next ruleset."""
    assert {version: ruleset.digest() for version, ruleset in RULESETS.items()} == {
        "2026.11": "sha256:d78442be416ed3325bea89e063ad799c391f4f5cd09620ed667a26681f21ce9b",
        "2026.12": "sha256:7aa163be58d53d0876015d70f5563364a7b1d35ae12ef81ccfdbc8955d59fa80",
    }


def test_the_newest_ruleset_has_every_rule_that_is_not_replaced() -> None:
    ruleset = RULESETS[LATEST]
    breaking = [rule.id for rule in BREAKING if rule.id not in REPLACED]

    assert sorted({name for names in ruleset.lint.values() for name in names}) == sorted(rule.id for rule in LINT)
    assert sorted(ruleset.breaking) == sorted(breaking)


def test_every_rule_is_in_the_category_of_its_record() -> None:
    ruleset = RULESETS[LATEST]

    assert [rule.id for rule in LINT if rule.id not in ruleset.lint[rule.category]] == []


def test_cumulative_categories_include_the_ones_before_them() -> None:
    ruleset = RULESETS[LATEST]
    sizes = [set(ruleset.rules_up_to(category)) for category in CUMULATIVE]

    assert all(smaller < larger for smaller, larger in pairwise(sizes))


def test_docs_rules_md_is_generated_from_the_rule_records() -> None:
    page = (ROOT / "docs" / "RULES.md").read_text("utf-8")

    assert page == render_rules(LINT, BREAKING, RULESETS[LATEST]), "docs/RULES.md is stale; run scripts/rules-page"
