"""The rule list of docs/RULES.md, made from the rule records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from strictwire.check.rule import Category, Rule
from strictwire.check.rulesets import LADDER, Ruleset

_CATEGORIES = {
    Category.MINIMAL: "Without these a client cannot use the tool, or must not.",
    Category.BASIC: "Without these the tool misleads people, models or programs.",
    Category.STANDARD: "What works with every large client. The default.",
    Category.STRICT: "Reviewed contracts: closed, bounded, explicit, in files.",
    Category.CODE: 'The conventions of the read-only code tools. Ask for it with `also = ["CODE"]`.',
}


def render_rules(lint: Sequence[Rule], breaking: Sequence[Rule], ruleset: Ruleset) -> str:
    """The whole page."""
    known = {rule.id: rule for rule in (*lint, *breaking)}
    return "\n".join(_lines(known, ruleset))


def _lines(known: dict[str, Rule], ruleset: Ruleset) -> Iterator[str]:
    yield "# Rules"
    yield ""
    yield f"Made from the rule records; do not edit. Ruleset `{ruleset.version}`, digest `{ruleset.digest()}`."
    yield ""
    yield f"Categories include each other: {' ⊂ '.join(each.value for each in LADDER)}. A published ruleset never changes."
    yield "What cannot be read is always reported, whatever the category, and so is a waiver that waives nothing"
    yield "(`WAIVER_USED`)."
    yield ""
    yield "# lint"
    for category, ids in ruleset.lint.items():
        yield ""
        yield f"## {category.value}"
        yield ""
        yield _CATEGORIES[category]
        for each in ids:
            yield from _entry(known[each])
    yield ""
    yield "# breaking"
    for each in ruleset.breaking:
        yield from _entry(known[each])
    yield ""


def _entry(rule: Rule) -> Iterator[str]:
    yield ""
    yield f"### {rule.id}"
    yield ""
    yield rule.purpose + (f" Hurts: {rule.hurts.value}." if rule.hurts else "")
    yield ""
    yield f"- bad: `{rule.bad}`"
    yield f"- good: `{rule.good}`"
    yield f"- what to do: {rule.advice}"
