"""Lint rules: one function each, grouped by what they are about. The list below is every rule there is."""

from __future__ import annotations

from typing import Final

from strictwire.check.lint import clients, code, conventions, gate, hints, names, references, shapes, texts, validity
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
    *gate.RULES,
    *code.RULES,
)
