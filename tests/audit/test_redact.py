"""Which stored values are unredacted."""

from __future__ import annotations

from strictwire.audit.redact import is_whole, redact
from strictwire.canon.digest import digest


def test_a_value_without_secrets_is_unredacted():
    plain, secret = {"path": "a.txt"}, {"path": "a.txt", "password": "x"}

    assert is_whole(redact(plain), digest(plain))
    assert not is_whole(redact(secret), digest(secret))
    assert not is_whole(plain, None)
