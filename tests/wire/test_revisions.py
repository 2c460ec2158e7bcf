"""The table of protocol revisions."""

from __future__ import annotations

import pytest

from strictwire.wire.revisions import LATEST_LEGACY, LEGACY_NAMES, MODERN_NAMES, REVISIONS, negotiate_legacy


def test_revisions_are_sorted_and_legacy_ones_come_first() -> None:
    assert list(REVISIONS) == sorted(REVISIONS)
    assert (*LEGACY_NAMES, *MODERN_NAMES) == tuple(REVISIONS)


@pytest.mark.parametrize("name", LEGACY_NAMES)
def test_a_legacy_client_gets_the_revision_that_it_requests(name: str) -> None:
    assert negotiate_legacy(name).name == name


@pytest.mark.parametrize("requested", ["1999-01-01", "2026-07-28", None, 5, [], {}])
def test_any_other_request_gets_the_latest_legacy_revision(requested: object) -> None:
    assert negotiate_legacy(requested).name == LATEST_LEGACY


def test_only_one_revision_has_batches() -> None:
    assert [name for name, revision in REVISIONS.items() if revision.batches] == ["2025-03-26"]
