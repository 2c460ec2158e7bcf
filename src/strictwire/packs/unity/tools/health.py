"""project.health: the findings of `strictwire unity check`, for programs."""

from __future__ import annotations

from collections import Counter

from strictwire.canon.json import JsonObject
from strictwire.check.finding import Finding, Level
from strictwire.packs.unity.check.policy import CheckPolicy
from strictwire.packs.unity.check.run import check_project
from strictwire.packs.unity.tools.pages import cut_page
from strictwire.packs.unity.tools.reply import Reply, Request, shorten


def health(request: Request) -> Reply:
    """project.health, by file and line."""
    arguments, guard = request.arguments, request.guard
    graph = request.session.index.graph(stop=guard.is_nearly_late)
    checked = check_project(graph, CheckPolicy(), stop=guard.is_late)
    counts = Counter(each.level for each in checked.findings)
    wanted = [each for each in checked.findings if _fits(each, arguments)]
    wanted.sort(key=lambda each: (each.file, each.line, each.rule, each.pointer))
    page = cut_page(
        "project.health", arguments, wanted, mark=str, size_of=lambda each: len(each.message) + len(each.file) + 120
    )
    output: JsonObject = {
        "errors": counts[Level.ERROR],
        "warnings": counts[Level.WARNING],
        "findings": [_show(each) for each in page.items],
        **page.members,
    }
    lines = [f"{counts[Level.ERROR]} errors, {counts[Level.WARNING]} warnings", *map(_line, page.items)]
    return Reply(
        output=output,
        text=shorten(lines, "... {} more findings; page with pageSize and cursor"),
        notes=(*checked.notes, *page.notes),
        is_final=not checked.is_partial,
    )


def _fits(finding: Finding, arguments: JsonObject) -> bool:
    wanted = (arguments.get("rule", finding.rule), arguments.get("severity", finding.level))
    return wanted == (finding.rule, finding.level)


def _show(finding: Finding) -> JsonObject:
    return {
        "rule": finding.rule,
        "severity": finding.level.value,
        "path": finding.file,
        "line": finding.line,
        "message": finding.message,
        "advice": finding.advice,
    }


def _line(finding: Finding) -> str:
    place = f"{finding.file}:{finding.line}" if finding.line else finding.file
    return f"{place}: {finding.level.value} {finding.rule}: {finding.message}"
