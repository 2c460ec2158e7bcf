"""10,000 random pairs of schemas against a sampling oracle: no wrong "included", no wrong witness, few undecided."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from strictwire.check.inclusion.decide import Compared, Included, NotIncluded, decide_pair
from strictwire.check.inclusion.shape import Reading
from strictwire.contract.conform import compile_schema
from tests.check.inclusion.oracle import accepts_declared
from tests.check.inclusion.random_schemas import nearby_schema, random_schema, random_value

PAIRS = 10_000
"""Pairs for each reading."""

VALUES = 25
"""Random values that try to refute each "included"."""


def random_pair(seed: int) -> tuple[dict[str, Any], dict[str, Any], Random]:
    random = Random(seed)
    old = random_schema(random)
    return old, nearby_schema(random, old) if seed % 2 else random_schema(random), random


def exactly(schema: dict[str, Any], value: Any) -> bool:
    return compile_schema(schema).accepts(value)


@pytest.mark.slow
@pytest.mark.parametrize(("reading", "accepts"), [(Reading.AS_WRITTEN, exactly), (Reading.DECLARED, accepts_declared)])
def test_random_pairs_have_no_wrong_result_and_at_most_3_percent_are_undecided(reading: Reading, accepts: Any) -> None:
    results: Counter[str] = Counter()
    wrong = []
    for seed in range(PAIRS):
        source, target, random = random_pair(seed)
        result = decide_pair(Compared(schema=source, reading=reading), Compared(schema=target, reading=reading), tries=60)
        results[type(result).__name__] += 1
        if isinstance(result, NotIncluded) and not (accepts(source, result.witness) and not accepts(target, result.witness)):
            wrong.append((seed, "witness", result.witness))
        if isinstance(result, Included):
            values = [random_value(random) for _ in range(VALUES)]
            wrong += [(seed, "included", v) for v in values if accepts(source, v) and not accepts(target, v)]

    assert wrong == []
    assert results["Undecided"] <= 0.03 * PAIRS
