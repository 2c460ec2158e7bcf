"""Every rule of `strictwire unity check`, in the order of the documentation."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from strictwire.packs.unity.check.files import FILE_RULES
from strictwire.packs.unity.check.metas import META_RULES
from strictwire.packs.unity.check.references import REFERENCE_RULES
from strictwire.packs.unity.check.rule import UnityRule

RULES: Final[Mapping[str, UnityRule]] = MappingProxyType(
    {rule.id: rule for rule in (*REFERENCE_RULES, *META_RULES, *FILE_RULES)}
)
"""Rules by id."""
