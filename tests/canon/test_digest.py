"""Digests of JSON values and of bytes."""

from __future__ import annotations

from strictwire.canon.digest import digest, digest_bytes


def test_member_order_does_not_change_a_digest() -> None:
    assert digest({"a": 1, "b": [1, {"x": 1, "y": 2}]}) == digest({"b": [1, {"y": 2, "x": 1}], "a": 1})


def test_a_digest_starts_with_the_name_of_its_algorithm() -> None:
    expected = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"

    assert digest({}) == digest_bytes(b"{}") == expected
