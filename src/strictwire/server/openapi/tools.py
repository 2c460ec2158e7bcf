"""A document as tools: every operation becomes one, or its reason is listed."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from strictwire.contract.handler import Handler
from strictwire.contract.tool import ToolContract
from strictwire.server.openapi.document import PLACE, NotUsable, read_document
from strictwire.server.openapi.operation import declare_operation
from strictwire.server.openapi.response import HttpClient

MAX_SHOWN: Final = 10
"""Reasons in one error message."""

log = logging.getLogger("strictwire.openapi")


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """What a document describes."""

    name: str
    version: str
    tools: tuple[tuple[ToolContract, Handler], ...]
    skipped: Mapping[str, str]
    """The reason for each operation that is no tool."""


def read_api(document: Mapping[str, Any] | str | bytes, client: HttpClient, unsupported: str) -> Api:
    """Read a document. Raises DeclarationRefused: it is no document, or an operation cannot be a tool."""
    if unsupported not in ("refuse", "skip"):
        raise PLACE.refuse(f"unsupported={unsupported!r}; use 'refuse' or 'skip'")
    if not callable(getattr(client, "request", None)):
        raise PLACE.refuse("the client has no `request`; pass one such as httpx.AsyncClient(base_url=...)")
    read = read_document(document)
    tools: dict[str, tuple[ToolContract, Handler]] = {}
    skipped: dict[str, str] = {}
    for operation in read.operations():
        try:
            contract, handler = declare_operation(operation, read, client)
        except NotUsable as exc:
            skipped[operation.label] = str(exc)
            continue
        if contract.name in tools:
            skipped[operation.label] = f"{contract.name!r} is also the name of another operation; give it an operationId"
        else:
            tools[contract.name] = contract, handler
    if skipped and unsupported == "refuse":
        shown = [f"{label}: {reason}" for label, reason in skipped.items()]
        more = f"; and {len(shown) - MAX_SHOWN} more" if len(shown) > MAX_SHOWN else ""
        listed = "; ".join(shown[:MAX_SHOWN])
        raise PLACE.refuse(f"{listed}{more}. Correct the document, or leave them out with unsupported='skip'")
    for label, reason in skipped.items():
        log.warning("%s is left out: %s", label, reason)
    info = read.root.get("info")
    facts = info if isinstance(info, dict) else {}
    name, version = str(facts.get("title") or "api"), str(facts.get("version") or "0")
    return Api(name=name, version=version, tools=tuple(tools.values()), skipped=skipped)
