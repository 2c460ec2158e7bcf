"""Codes for single families of tools: context resolve, code navigation, Unity projects, the guard's upstreams."""

from __future__ import annotations

from typing import Final

from strictwire.fault.catalogue.entry import CatalogueEntry, entry

DOMAIN_ENTRIES: Final[tuple[CatalogueEntry, ...]] = (
    entry(
        "CACHE_MISSING",
        "run caller",
        text="Cache does not exist",
        action="Check the name of the cache, or build it.",
        meaning="The path of the cache does not exist or cannot be reached.",
    ),
    entry(
        "CACHE_INVALID",
        "run tool",
        text="Cache exists but is invalid",
        action="Build the cache again; repeating the call does not help.",
        meaning="The cache violates an invariant: no manifest, malformed JSON, a wrong hash or a missing document.",
    ),
    entry(
        "INVALID_QUERY",
        "accept caller",
        text="Query is invalid",
        action="Correct the query, or remove the unknown argument.",
        meaning="The query is not a string or is too long, or an argument is unknown.",
    ),
    entry(
        "INVALID_BUDGET",
        "accept caller",
        text="Budget is invalid",
        action="Use a non-negative integer.",
        meaning="The budget is missing, not an integer, or out of range.",
    ),
    entry(
        "IO_ERROR",
        "run tool retry",
        text="I/O error occurred",
        action="Try again later.",
        meaning="The operating system failed on a manifest or document: permission, read failure, lock, full disk.",
    ),
    entry(
        "CURSOR_INVALID",
        "run caller",
        text="The cursor is not valid",
        action="Restart without a cursor.",
        meaning="The cursor of a tool cannot be decoded, or belongs to another request.",
    ),
    entry(
        "CURSOR_STALE",
        "run caller",
        text="The workspace has changed since the first page",
        action="Restart without a cursor.",
        meaning="The data has changed since the first page.",
    ),
    entry(
        "CURSOR_EXPIRED",
        "run caller",
        text="The cursor has expired",
        action="Restart without a cursor.",
        meaning="The server no longer keeps the result set of the cursor.",
    ),
    entry(
        "SNAPSHOT_TOO_LARGE",
        "run tool",
        text="The result set is too large to page through",
        action="Request less: a narrower query.",
        meaning="The result set is too large to keep, so no page of it is returned.",
    ),
    entry(
        "URI_INVALID",
        "run caller",
        text="The URI is not valid",
        action="Use the file URI of an existing document.",
        meaning="The URI is malformed or does not resolve.",
    ),
    entry(
        "WORKSPACE_DENIED",
        "run caller",
        text="The location is outside the workspace",
        action="Use a location inside the workspace folders.",
        meaning="The URI resolves to a location outside the roots, or there are no roots.",
    ),
    entry(
        "NOT_FOUND",
        "run caller",
        text="Not found",
        action="Check the name or the location.",
        meaning="What the arguments name does not exist, or is beyond the end of a document.",
    ),
    entry(
        "PROVIDER_UNAVAILABLE",
        "run upstream retry",
        text="The language server did not answer",
        action="Try again in a moment.",
        meaning="The language server failed, is starting, or is not installed.",
    ),
    entry(
        "UNITY_ERROR",
        "run caller",
        text="A part of the Unity project cannot be read",
        action="See unityError in the details; it names what is missing and what to do.",
        meaning="A scene, asset or setting of the Unity project is missing or cannot be read.",
    ),
    entry(
        "UPSTREAM_GONE",
        "run upstream retry",
        text="The upstream server is not available",
        action="Wait, then send the same call again. It is unknown whether the previous call had an effect.",
        meaning="The upstream does not start, has ended, closed the connection, or waits for its restart.",
    ),
    entry(
        "UPSTREAM_BROKE",
        "run upstream",
        text="The upstream server violated the protocol",
        action="Report it to the author of that server.",
        meaning="The upstream sent a response that the protocol or its own contract does not allow.",
    ),
    entry(
        "UPSTREAM_ERROR",
        "run upstream",
        text="The upstream server returned an error",
        action="Correct the call as the error says.",
        meaning="The upstream returned an error of its own, which the guard relayed; its code is in the details.",
    ),
    entry(
        "CONTRACT_CHANGED",
        "admit upstream",
        text="The tool differs from its pinned contract",
        action="Ask the operator of the guard to review the change and pin the tool again.",
        meaning="The upstream lists a different contract for this tool than the lock file, so the guard does not call it.",
    ),
)
"""Grouped by family."""
