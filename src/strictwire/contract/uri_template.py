"""URI templates of resources: the part of RFC 6570 that can be matched without ambiguity.

    {name}      one path segment, percent-decoded          level 1
    {+name}     everything up to a query, with slashes     level 2
    {?a,b}      members of the query, each optional        level 3
    {&a,b}      the same after a fixed query               level 3

Every other expression is refused when the template is compiled, so that no server advertises a template that never matches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final
from urllib.parse import unquote_to_bytes

_EXPRESSION: Final = re.compile(r"\{([^{}]*)\}")
_VARIABLES: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:,[A-Za-z_][A-Za-z0-9_]*)*")

_PATTERNS: Final[Mapping[str, str]] = MappingProxyType({"": "[^/?#]+", "+": "[^?#]+"})
"""What an expression in the path matches, by its operator."""

_QUERY: Final = ("?", "&")
"""The operators of expressions in the query."""

_GROUP: Final = "_query_"
"""The group of the whole query in the pattern."""

_ADVICE: Final[Mapping[str, str]] = MappingProxyType(
    {"*": "use {+name} for a path of several segments", ":": "use {name} and check the length in the function"}
)
"""What to use instead of a modifier of level 4."""


class TemplateRefused(ValueError):
    """The template cannot be matched. The message names the expression and says what to use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UriTemplate:
    """A compiled template."""

    text: str
    names: tuple[str, ...]
    """Variables in the path. A URI always has them."""
    query_names: tuple[str, ...]
    """Variables in the query. A URI may leave them out."""
    pattern: re.Pattern[str]

    def match(self, uri: str) -> dict[str, str] | None:
        """The decoded values of the variables, or None if the URI is not of this template."""
        found = self.pattern.fullmatch(uri)
        if found is None:
            return None
        raw = {name: found[name] for name in self.names}
        if self.query_names:
            members = _members(found[_GROUP] or "")
            if members is None or not members.keys() <= set(self.query_names):
                return None
            raw |= members
        try:
            return {name: unquote_to_bytes(value).decode() for name, value in raw.items()}
        except UnicodeDecodeError:
            return None


def _members(query: str) -> dict[str, str] | None:
    """The members of a query, still encoded; None if one occurs twice or has no value."""
    pairs = [each.partition("=") for each in query.split("&") if each]
    members = {name: value for name, separator, value in pairs if separator}
    return members if len(members) == len(pairs) else None


def compile_template(text: str) -> UriTemplate:
    """Compile a template. Raises TemplateRefused."""
    pieces = _EXPRESSION.split(text)
    fixed, expressions = pieces[::2], pieces[1::2]
    if any(brace in piece for piece in fixed for brace in "{}"):
        raise TemplateRefused(f"{text!r} has a brace that is not part of an expression; write {{name}}")
    names: list[str] = []
    query_names: list[str] = []
    body = re.escape(fixed[0])
    for expression, rest in zip(expressions, fixed[1:], strict=True):
        operator, variables = _parse(expression)
        if (query_names and operator not in _QUERY) or (operator in _QUERY and rest):
            raise TemplateRefused(f"{text!r} continues after {{?...}}; put the query at the end")
        if operator not in _QUERY:
            body += f"(?P<{variables[0]}>{_PATTERNS[operator]}){re.escape(rest)}"
        elif not query_names:  # `{?a}{&b}` is one query
            body += rf"(?:{re.escape(operator)}(?P<{_GROUP}>[^#]*))?"
        (query_names if operator in _QUERY else names).extend(variables)
    every = [*names, *query_names]
    twice = next((name for name in every if every.count(name) > 1), None)
    if twice is not None:
        raise TemplateRefused(f"{text!r} has {{{twice}}} twice; give each variable a name of its own")
    return UriTemplate(text=text, names=tuple(names), query_names=tuple(query_names), pattern=re.compile(body))


def _parse(expression: str) -> tuple[str, list[str]]:
    operator = expression[:1] if expression[:1] in (*_PATTERNS, *_QUERY) else ""
    rest = expression.removeprefix(operator)
    refused = next(_find_problems(operator, rest), None)
    if refused is not None:
        raise TemplateRefused(f"{{{expression}}} is not supported; {refused}")
    return operator, rest.split(",")


def _find_problems(operator: str, rest: str) -> Iterator[str]:
    for modifier, advice in _ADVICE.items():
        if modifier in rest:
            yield advice
    if not _VARIABLES.fullmatch(rest):
        yield "use {name}, {+name}, {?name} or {&name}, with names of letters, digits and underscores"
    if "," in rest and operator not in _QUERY:
        yield f"write one expression for each variable: {''.join(f'{{{operator}{name}}}' for name in rest.split(','))}"
