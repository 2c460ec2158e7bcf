"""Codes that one family of tools brings: context resolve, code navigation, Unity projects."""

from __future__ import annotations

from typing import Final

from strictwire.fault.catalogue.entry import Entry, entry

DOMAIN_ENTRIES: Final[tuple[Entry, ...]] = (
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
        action="Build the cache again; trying again does not help.",
        meaning="The cache breaks an invariant: no manifest, malformed JSON, a wrong hash, a missing document.",
    ),
    entry(
        "INVALID_QUERY",
        "accept caller",
        text="Query is invalid",
        action="Correct the query, or leave out the argument that is unknown.",
        meaning="The query is not a text, is too long, or an argument is unknown.",
    ),
    entry(
        "INVALID_BUDGET",
        "accept caller",
        text="Budget is invalid",
        action="Give a whole number that is not negative.",
        meaning="The budget is missing, not a whole number, or out of range.",
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
        action="Start again without a cursor.",
        meaning="The cursor of a tool cannot be read, or belongs to another request.",
    ),
    entry(
        "CURSOR_STALE",
        "run caller",
        text="The workspace has changed since the first page",
        action="Start again without a cursor.",
        meaning="What the pages were cut from has changed.",
    ),
    entry(
        "CURSOR_EXPIRED",
        "run caller",
        text="The pages are no longer kept",
        action="Start again without a cursor.",
        meaning="The set that the pages were cut from is no longer retained.",
    ),
    entry(
        "SNAPSHOT_TOO_LARGE",
        "run tool",
        text="The set is too large to page through",
        action="Ask for less: a narrower query.",
        meaning="The set cannot be retained, so no page of it is given.",
    ),
    entry(
        "URI_INVALID",
        "run caller",
        text="The URI is not valid",
        action="Give a file URI of an existing document.",
        meaning="The URI is malformed or leads nowhere.",
    ),
    entry(
        "WORKSPACE_DENIED",
        "run caller",
        text="The location is outside the workspace",
        action="Use a location inside the workspace folders.",
        meaning="The URI leads outside the roots, or there are no roots.",
    ),
    entry(
        "NOT_FOUND",
        "run caller",
        text="There is nothing at this place",
        action="Check the document and the position.",
        meaning="The document cannot be opened, or the position is beyond its end.",
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
        action="Check that the scene or asset exists and is saved as text.",
        meaning="A scene, asset or setting of the Unity project is missing or cannot be read.",
    ),
    entry(
        "UPSTREAM_GONE",
        "run upstream retry",
        text="The server behind the guard is not available",
        action="Wait, then send the same call again; what it changed before it went is not known.",
        meaning="The upstream does not start, ended, closed the connection, or is not started again yet.",
    ),
    entry(
        "UPSTREAM_BROKE",
        "run upstream",
        text="The server behind the guard broke the protocol",
        action="Report it to the author of that server.",
        meaning="The upstream answered with something that its protocol or its own contract does not allow.",
    ),
    entry(
        "UPSTREAM_ERROR",
        "run upstream",
        text="The server behind the guard refused",
        action="Correct the call as its error says.",
        meaning="The upstream answered with an error of its own, which was relayed; its code is in the details.",
    ),
    entry(
        "CONTRACT_CHANGED",
        "admit upstream",
        text="The tool is not the one that was pinned",
        action="Ask whoever runs the guard to review the change and pin the tool again.",
        meaning="The upstream shows another contract for this tool than the lock file, so the tool is not called.",
    ),
)
"""By family."""
