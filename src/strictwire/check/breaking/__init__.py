"""Breaking rules: what must not change between two versions of a tool. `RULES` lists all of them."""

from __future__ import annotations

from typing import Final

from strictwire.check.breaking import defaults, members, schemas, terms
from strictwire.check.rule import Rule

RULES: Final[tuple[Rule, ...]] = (*terms.RULES, *members.RULES, *defaults.RULES, *schemas.RULES)
