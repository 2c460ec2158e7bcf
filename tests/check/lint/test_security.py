"""Planted directives are found with their location; harmless tools that use the same words are not."""

from __future__ import annotations

import re
from typing import Any

import pytest

from strictwire.canon.json import render
from strictwire.check.engine import lint, select_rules
from strictwire.check.finding import Finding
from strictwire.check.lint import RULES
from strictwire.check.policy import LintPolicy
from strictwire.check.rule import Category
from strictwire.check.rulesets import LATEST, RULESETS
from strictwire.sources.dump import parse_dump
from tests.check.lint.injection_corpus import HARMLESS, PLANTED


def findings(members: dict[str, Any]) -> tuple[Finding, ...]:
    entry = {"name": "t", "description": "Does something.", "inputSchema": {"type": "object"}, **members}
    policy = LintPolicy(category=Category.SECURITY)
    selection = select_rules(RULES, RULESETS[LATEST], policy)
    return lint(parse_dump(render([entry]), "tools.json"), selection, policy, version=LATEST).findings


def ids(rows: tuple[tuple[str, Any], ...]) -> list[str]:
    return [re.sub(r"\W+", "_", name) for name, _ in rows]


@pytest.mark.parametrize("row", PLANTED, ids=ids(PLANTED))
def test_a_planted_directive_is_found(row: tuple[str, dict[str, Any]]) -> None:
    found = findings(row[1])

    assert found
    assert all(each.pointer.startswith("/0/") for each in found)


@pytest.mark.parametrize("row", HARMLESS, ids=ids(HARMLESS))
def test_a_harmless_tool_with_the_same_words_is_not_reported(row: tuple[str, dict[str, Any]]) -> None:
    assert [(each.rule, each.message) for each in findings(row[1])] == []
