"""`import strictwire` shows its public names, and each says what it is."""

from __future__ import annotations

import pytest

import strictwire
from strictwire import _MODULES


def test_every_public_name_is_listed_and_importable() -> None:
    assert sorted(strictwire.__all__) == sorted(_MODULES)
    assert set(strictwire.__all__) <= set(dir(strictwire))


@pytest.mark.parametrize("name", strictwire.__all__)
def test_every_public_name_has_a_docstring(name: str) -> None:
    assert getattr(strictwire, name).__doc__


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'strictwire' has no attribute 'nothing'"):
        _ = strictwire.nothing
