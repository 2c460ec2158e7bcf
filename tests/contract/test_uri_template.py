"""URI templates: what they match, and how values are decoded. Mistakes are in tests/server/declare/test_mistakes.py."""

from __future__ import annotations

import pytest

from strictwire.contract.uri_template import TemplateRefused, compile_template

MATCHES: list[tuple[str, str, dict[str, str] | None]] = [
    ("a://fixed", "a://fixed", {}),
    ("a://fixed", "a://other", None),
    ("a://{x}", "a://1", {"x": "1"}),
    ("a://{x}", "a://a%20b%2Fc", {"x": "a b/c"}),
    ("a://{x}", "a://%C3%A4", {"x": "ä"}),
    ("a://{x}", "a://%FF", None),
    ("a://{x}", "a://a/b", None),
    ("a://{x}", "a://", None),
    ("a://{x}/{y}", "a://1/2", {"x": "1", "y": "2"}),
    ("a://{x}.txt", "a://note.txt", {"x": "note"}),
    ("a.b://{x}", "aXb://1", None),
    ("a://{+path}", "a://x/y/z", {"path": "x/y/z"}),
    ("a://{+path}/raw", "a://x/y/raw", {"path": "x/y"}),
    ("a://{+path}", "a://x?q=1", None),
    ("a://s{?q,n}", "a://s", {}),
    ("a://s{?q,n}", "a://s?n=2&q=a%26b", {"n": "2", "q": "a&b"}),
    ("a://s{?q}", "a://s?z=1", None),
    ("a://s{?q}", "a://s?q=1&q=2", None),
    ("a://s{?q}", "a://s?q", None),
    ("a://s{?q}{&n}", "a://s?q=1&n=2", {"q": "1", "n": "2"}),
    ("a://s?fixed=1{&n}", "a://s?fixed=1&n=2", {"n": "2"}),
    ("a://{x}{?q}", "a://1?q=", {"x": "1", "q": ""}),
]


@pytest.mark.parametrize(("template", "uri", "values"), MATCHES)
def test_a_uri_gives_the_decoded_values_of_the_variables(template: str, uri: str, values: dict[str, str] | None) -> None:
    assert compile_template(template).match(uri) == values


@pytest.mark.parametrize(
    "template", ["a://{", "a://}", "a://{}", "a://{x", "a://{{x}}", "a://{x y}", "a://{;x}", "a://{.x}", "a://{1}"]
)
def test_an_expression_that_would_never_match_is_refused(template: str) -> None:
    with pytest.raises(TemplateRefused):
        compile_template(template)
