"""Questions to a whole workspace: diagnostics of every file whatever the engine offers, and one answer from many engines."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.packs.code.engine import EngineFailed, EngineTimeout, Reply
from strictwire.packs.code.engines.session import Answered, Session
from strictwire.packs.code.lines import NotSource
from strictwire.packs.code.uri import render_file_uri

MAX_FILES: Final = 2_000
"""Documents asked about, of an engine that reports one document at a time."""

_SECONDS: Final = 20.0
"""For one document. An engine may leave one out that it does not take for source, and say nothing about it."""

_AT_ONCE: Final = 8
"""Documents asked about at the same time, of an engine that reports one document at a time."""


async def ask_diagnostics(session: Session, paths: Sequence[str], patience: float) -> Answered:
    """`{"items": [{"uri", "kind", "items"}]}` for every file. Raises as Session.ask."""
    if session.offers("workspace/diagnostic"):
        answered = await session.ask("workspace/diagnostic", {"previousResultIds": []}, path=None, patience=patience)
        return Answered({"items": _full_reports(answered.value)}, answered.ready)
    reports: list[JsonObject] = []
    answers: list[Answered] = []
    for start in range(0, min(len(paths), MAX_FILES), _AT_ONCE):
        part = paths[start : min(start + _AT_ONCE, MAX_FILES)]
        found = await asyncio.gather(*(_diagnose(session, path) for path in part))
        answers += found
        reports += [_report(path, answered.value) for path, answered in zip(part, found, strict=True) if answered.value]
    gap = f"only the first {MAX_FILES} files were looked at" if len(paths) > MAX_FILES else ""
    gaps = [gap, *(answered.gap for answered in answers)]
    return Answered({"items": reports}, all(answered.ready for answered in answers), next(filter(None, gaps), ""))


async def _diagnose(session: Session, path: str) -> Answered:
    try:
        async with asyncio.timeout(_SECONDS):
            return await session.diagnose(path)
    except TimeoutError:
        return Answered([], ready=True, gap="the engine reports nothing for some files")
    except FileNotFoundError:  # deleted since it was listed
        return Answered([], ready=True)
    except OSError as exc:
        is_binary = isinstance(exc, NotSource) and not exc.too_large
        return Answered([], ready=True, gap="" if is_binary else "some files cannot be read")


def _report(path: str, items: JsonValue) -> JsonObject:
    return {"uri": render_file_uri(path), "kind": "full", "items": items}


def _full_reports(value: JsonValue) -> list[JsonValue]:
    items = value.get("items") if isinstance(value, dict) else None
    found = items if isinstance(items, list) else []
    return [each for each in found if isinstance(each, dict) and each.get("kind") == "full"]


def merge(replies: Sequence[Reply | BaseException | None], empty: Sequence[Reply]) -> tuple[Reply, ...]:
    """The replies of all engines, with `empty` in the place of one that failed or was late.

    Raises what the first engine raised, if none answered.
    """
    failures = [each for each in replies if isinstance(each, BaseException)]
    for failure in failures:
        if not isinstance(failure, EngineFailed | EngineTimeout):
            raise failure
    if failures and not any(isinstance(each, Reply) for each in replies):
        raise failures[0]
    chosen = [spare if isinstance(each, BaseException) else each for each, spare in zip(replies, empty, strict=True)]
    return tuple(each for each in chosen if each is not None)
