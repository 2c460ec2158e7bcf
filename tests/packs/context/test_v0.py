"""Every rule of Context Resolve v0 has a test, every mark names a rule, and the generated page is up to date."""

from __future__ import annotations

from tests.packs.context.page import PAGE, render_page, section_of
from tests.packs.context.v0 import RULES, SECTIONS
from tests.requirements.page import find_marks


def test_every_rule_has_a_test_and_every_mark_a_rule() -> None:
    assert (sorted(set(RULES) - set(find_marks("v0"))), sorted(set(find_marks("v0")) - set(RULES))) == ([], [])


def test_every_section_has_rules_and_every_rule_a_section() -> None:
    assert {section_of(rule) for rule in RULES} == set(SECTIONS)


def test_the_page_is_fresh() -> None:
    assert PAGE.read_text(encoding="utf-8") == render_page(), "run ./scripts/context-page"
