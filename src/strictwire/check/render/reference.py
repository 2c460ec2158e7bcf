"""Renders a reference page for tools from their contracts, in Markdown or HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from strictwire.canon.json import JsonObject, render
from strictwire.contract.fingerprint import fingerprint
from strictwire.contract.tool import ToolContract
from strictwire.fault.escape import for_html, for_json_lines, for_markdown


def render_reference(tools: Sequence[ToolContract], title: str) -> str:
    """The Markdown page: one section per tool."""
    lines = [f"# {for_markdown(title)}", ""]
    lines += [
        f"- [{for_markdown(tool.name)}](#{_anchor(tool.name)}): {for_markdown(first_line(tool.description))}"
        for tool in tools
    ]
    for tool in tools:
        lines += ["", *_section(tool)]
    return "\n".join(lines) + "\n"


def _anchor(name: str) -> str:
    """The anchor that Markdown renderers make from a heading: lower case, without other characters than these."""
    return "".join(each for each in name.lower() if each.isalnum() or each in "-_")


def _section(tool: ToolContract) -> Iterator[str]:
    yield f"## {for_markdown(tool.name)}"
    yield ""
    yield for_markdown(tool.description)
    yield ""
    yield f"Fingerprint `{fingerprint(tool).whole}`. {for_markdown(_facts(tool))}"
    for heading, schema in (("Arguments", tool.input_schema), ("Result", tool.output_schema)):
        if schema is not None:
            yield from ("", f"### {heading}", "", "| name | type | required | description |", "|---|---|---|---|")
            for name, kind, needed, text in members(schema):
                yield f"| {for_markdown(name)} | {for_markdown(kind)} | {needed} | {for_markdown(text)} |"
    if tool.failures:
        yield from ("", "### Failures", "", "| code | meaning | action | retryable |", "|---|---|---|---|")
        yield from (f"| {' | '.join(map(for_markdown, row))} |" for row in _failure_rows(tool))


def _failure_rows(tool: ToolContract) -> Iterator[tuple[str, str, str, str]]:
    for each in tool.failures:
        yield each.code, each.meaning, each.action, "yes" if each.retryable else "no"


def render_reference_html(tools: Sequence[ToolContract], title: str) -> str:
    """The HTML page: no scripts; every string from a contract is escaped."""
    body = "\n".join(part for tool in tools for part in _html_section(tool))
    index = "".join(f'<li><a href="#{for_html(tool.name)}">{for_html(tool.name)}</a></li>' for tool in tools)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{for_html(title)}</title>\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{for_html(title)}</h1>\n<ul>{index}</ul>\n{body}\n</body>\n</html>\n"
    )


_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a}"
    "table{border-collapse:collapse;width:100%}td,th{border:1px solid #ccc;padding:.3rem .6rem;text-align:left}"
    "code,pre{font:14px ui-monospace,monospace}pre{overflow:auto;background:#f6f6f6;padding:1rem}"
)


def _html_section(tool: ToolContract) -> Iterator[str]:
    yield f'<h2 id="{for_html(tool.name)}">{for_html(tool.name)}</h2>'
    yield f"<p>{for_html(tool.description)}</p>"
    yield f"<p><small>{for_html(_facts(tool))} <code>{fingerprint(tool).whole}</code></small></p>"
    for heading, schema in (("Arguments", tool.input_schema), ("Result", tool.output_schema)):
        if schema is None:
            continue
        rows = "".join(
            f"<tr><td><code>{for_html(name)}</code></td><td>{for_html(kind)}</td><td>{needed}</td><td>{for_html(text)}</td></tr>"
            for name, kind, needed, text in members(schema)
        )
        yield (
            f"<h3>{heading}</h3><table><tr><th>name</th><th>type</th><th>required</th><th>description</th></tr>"
            f"{rows}</table><details><summary>Schema</summary><pre>{_html_schema(schema)}</pre></details>"
        )
    if tool.failures:
        rows = "".join(
            f"<tr><td><code>{for_html(code)}</code></td><td>{for_html(meaning)}</td><td>{for_html(action)}</td><td>{retry}</td></tr>"
            for code, meaning, action, retry in _failure_rows(tool)
        )
        head = "<tr><th>code</th><th>meaning</th><th>action</th><th>retryable</th></tr>"
        yield f"<h3>Failures</h3><table>{head}{rows}</table>"


def _html_schema(schema: JsonObject) -> str:
    text = msgspec.json.format(render(schema), indent=2).decode()
    return "\n".join(map(for_html, for_json_lines(text).split("\n")))


def _facts(tool: ToolContract) -> str:
    # The other two hints are the safety level in other words.
    hints = [name.removesuffix("Hint") for name in ("idempotentHint", "openWorldHint") if tool.annotations.get(name) is True]
    return f"Safety: {tool.safety.value}." + (f" Hints: {', '.join(hints)}." if hints else "")


def members(schema: JsonObject) -> Iterator[tuple[str, str, str, str]]:
    """The properties of the root object: name, type in words, `yes` or `no` for required, description."""
    properties = schema.get("properties")
    required = schema.get("required", ())
    for name, child in properties.items() if isinstance(properties, dict) else ():
        text = child.get("description", "") if isinstance(child, dict) else ""
        yield name, type_words(child), "yes" if name in required else "no", str(text)


def type_words(schema: Any) -> str:
    """The type of a schema in words, with the bounds that a caller must keep."""
    if not isinstance(schema, dict):
        return "anything" if schema is True else "nothing"
    if "enum" in schema:
        return "one of " + ", ".join(render(value).decode() for value in schema["enum"])
    if "const" in schema:
        return render(schema["const"]).decode()
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    named = schema.get("type", "anything")
    words = " or ".join(map(str, named)) if isinstance(named, list) else str(named)
    if words == "array":
        words = f"list of {type_words(schema.get('items', True))}"
    bounds = [f"{name} {schema[name]}" for name in _BOUNDS if name in schema]
    return f"{words} ({', '.join(bounds)})" if bounds else words


_BOUNDS = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern", "format")


def first_line(text: str) -> str:
    """The first line of a text."""
    return text.strip().partition("\n")[0]
