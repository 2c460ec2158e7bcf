"""`search`: text and regular expressions over the files of the roots, ignore files honoured; paged."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from importlib import metadata
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.contract.handler import Answer
from strictwire.fault.failure import Refused, fail
from strictwire.packs.code.answers.compact import match_lines
from strictwire.packs.code.answers.order import location_key, sort_unique
from strictwire.packs.code.engine import Completeness, EngineIdentity, Mention, PatternRefused, TextQuery
from strictwire.packs.code.found import Evidence
from strictwire.packs.code.limits import MAX_MATCHES
from strictwire.packs.code.service import Gathered, Request, Service, engine_failures, show_page
from strictwire.packs.code.tools.references import mention_location


async def search(service: Service, arguments: JsonObject) -> Answer:
    """Where a text or a regular expression occurs."""
    if not service.gate.roots:
        raise Refused(fail("WORKSPACE_DENIED"))
    globs = (arguments["glob"],) if "glob" in arguments else ()
    query = TextQuery(
        pattern=arguments["query"],
        regex=arguments.get("regex") is True,
        ignore_case=arguments.get("ignoreCase") is True,
        whole_word=arguments.get("wholeWord") is True,
        globs=globs,
        limit=MAX_MATCHES,
    )
    inputs = (query.pattern, query.regex, query.ignore_case, query.whole_word, *globs)
    request = Request(operation="search", inputs=inputs)
    return await service.page(request, arguments, partial(_gather, service, query), show_page("match", "matches"), _lines)


def _lines(members: JsonObject, roots: Sequence[str]) -> list[str]:
    return match_lines(members["items"], roots)


async def _gather(service: Service, query: TextQuery) -> Gathered:
    try:
        async with engine_failures():
            found = await service.code.text.search(query, seconds=service.settings.late_seconds)
    except PatternRefused as exc:
        message = f"{exc.argument} cannot be used: {exc.reason}"
        violation = {"path": f"/{exc.argument}", "keyword": "format", "message": message}
        raise Refused(fail("INVALID_PARAMS", details={"violations": [violation]})) from exc
    if found.capped:
        raise Refused(fail("CAP_EXCEEDED", text="Search exceeded max total."))
    engine = EngineIdentity(name="strictwire", version=_version(), language="text")
    items = sort_unique(map(_match, found.items), location_key)
    evidence = Evidence(engines=(engine,))
    if found.gaps:
        evidence = evidence.but(
            Completeness.PARTIAL, _GAPS.format("1 file was" if found.gaps == 1 else f"{found.gaps} files were")
        )
    return Gathered(items=items, evidence=evidence, facts={})


_GAPS: Final = "{} not searched in full: larger than 8 MB, not readable, or with lines too long for the expression"


@cache
def _version() -> str:
    return metadata.version("strictwire")


def _match(mention: Mention) -> JsonObject:
    return {**mention_location(mention), "text": mention.preview}
