"""The reward for words that stand together."""

from __future__ import annotations

import pytest

from strictwire.packs.context.search.proximity import SHARE, proximity, query_pairs


def test_pairs_are_neighbouring_words_without_function_words() -> None:
    assert query_pairs("How do I reset the user password?") == [("reset", "user"), ("user", "password")]
    assert query_pairs("reset") == query_pairs("") == []


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("reset password", 1.0),
        ("Resetting the passwords", 1 / 4),
        ("password reset", 0.0),
        ("reset a b c d password", 1 / 25),
        ("reset a b c d e password", 0.0),
        ("reset x y reset password", 1.0),
        ("reset", 0.0),
    ],
)
def test_the_reward_falls_with_the_distance(text: str, share: float) -> None:
    reward = proximity([("reset", "password")], {"reset": 2.0, "password": 3.0}, text)

    assert reward == pytest.approx(SHARE * 2.0 * share)
