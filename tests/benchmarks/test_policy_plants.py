"""The planted violations: enough of them, of every kind and language."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from benchmarks.policy_plants import CORPUS, HELD_OUT, RULES_OF, is_found, plant_all, read_corpus

from strictwire.packs.workspace.policy.languages import LANGUAGES
from strictwire.packs.workspace.policy.policy import Policy
from strictwire.packs.workspace.policy.rule import Severity
from strictwire.packs.workspace.policy.rules import RULES

SOURCES = Path(__file__).parents[2] / "src"


def test_there_are_two_hundred_violations_of_every_kind_and_language() -> None:
    plants = read_corpus()

    assert len(plants) == 200
    assert {plant.language for plant in plants} == set(LANGUAGES) - {"tsx"}
    assert {plant.kind for plant in plants} == set(RULES_OF)
    assert min(Counter(plant.language for plant in plants).values()) >= 15


def test_every_enabled_rule_belongs_to_a_kind_of_violation() -> None:
    on = {rule.id for rule in RULES if rule.severity is not Severity.OFF}

    assert set().union(*RULES_OF.values()) == on


def test_no_text_is_planted_twice() -> None:
    texts = Counter(
        (plant.language, plant.text) for folder in (CORPUS, *HELD_OUT.iterdir()) for plant in read_corpus(folder)
    )

    assert [text for text, count in texts.items() if count > 2] == []


@pytest.mark.slow
def test_violations_planted_in_our_own_code_are_found_and_planting_is_reproducible() -> None:
    seed = random.randrange(1 << 32)
    print("seed", seed)
    plants = [plant for plant in read_corpus() if plant.language == "python"]
    hosts = {"python": sorted(SOURCES.rglob("*.py"))}

    planted = list(plant_all(plants, hosts, seed))

    assert planted == list(plant_all(plants, hosts, seed))
    missed = [each.plant for each in planted if not is_found(each, Policy())]
    assert len(missed) <= 0.05 * len(plants), missed
