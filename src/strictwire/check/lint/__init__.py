"""Lint rules: one function each, grouped by subject. `RULES` lists all of them."""

from __future__ import annotations

from typing import Final

from strictwire.check.lint import (
    agents,
    arguments,
    changes,
    clients,
    code,
    conventions,
    hints,
    names,
    references,
    security,
    shapes,
    texts,
    validity,
)
from strictwire.check.rule import Rule

RULES: Final[tuple[Rule, ...]] = (
    *validity.RULES,
    *names.RULES,
    *texts.RULES,
    *hints.RULES,
    *references.RULES,
    *clients.RULES,
    *shapes.RULES,
    *conventions.RULES,
    *changes.RULES,
    *code.RULES,
    *agents.RULES,
    *arguments.RULES,
    *security.RULES,
)
