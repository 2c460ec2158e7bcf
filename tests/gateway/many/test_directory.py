"""Which upstream owns a URI: every step of the decision."""

from __future__ import annotations

import time

import pytest

from strictwire.gateway.many.directory import ResourceClaim, find_owner, matches_template

FILES = ResourceClaim(uris=frozenset({"file:///a", "shared:1"}), templates=frozenset({"file:///t/{name}.txt"}))
NOTES = ResourceClaim(uris=frozenset({"shared:1", "x:1"}))
GREEDY = ResourceClaim(templates=frozenset({"{+any}", "{scheme}://{+rest}", "g{+any}"}))
EMPTY = ResourceClaim()


@pytest.mark.parametrize(
    ("uri", "place"),
    [
        ("file:///a", 0),
        ("shared:1", 0),
        ("x:1", 1),
        ("file:///t/b.txt", 0),
        ("file:///t/{name}.txt", 0),
        ("FILE:///elsewhere", 0),
        ("shared:2", None),
        ("never:1", None),
        ("greedy:1", None),
        ("", None),
    ],
)
def test_the_first_step_that_finds_an_owner_decides(uri: str, place: int | None) -> None:
    assert find_owner(uri, [GREEDY, FILES, NOTES, EMPTY]) == (None if place is None else place + 1)


def test_the_only_upstream_with_resources_owns_every_uri() -> None:
    assert find_owner("any:1", [EMPTY]) == 0
    assert find_owner("any:1", [FILES]) == 0
    assert find_owner("any:1", []) is None
    assert find_owner("any:1", [FILES], all_known=False) is None
    assert find_owner("file:///unlisted", [FILES], all_known=False) == 0


@pytest.mark.parametrize(
    ("uri", "template", "fits"),
    [
        ("a:1/x", "a:{id}/x", True),
        ("a:1/y", "a:{id}/x", False),
        ("a:", "a:{id}", True),
        ("a:b/c/d", "a:{+path}", True),
        ("a:*", "a:*", True),
        ("a:b", "a:*", False),
        ("a:[x]", "a:[x]", True),
        ("a:x", "a:[x]", False),
        ("a:{", "a:{", True),
        ("a:b", "{+any}", False),
        ("a:b", "{scheme}:b", False),
        ("a:b", "a{+any}", False),
    ],
)
def test_only_an_expression_of_a_template_matches_any_text(uri: str, template: str, fits: bool) -> None:
    assert matches_template(uri, template) is fits


def test_a_hostile_template_is_matched_in_linear_time() -> None:
    started = time.process_time()

    assert not matches_template("x:" + "x" * 20_000, "x:" + "{a}x" * 499 + "y")
    assert not matches_template("x", "{a}" * 10_000)
    assert time.process_time() - started < 1
