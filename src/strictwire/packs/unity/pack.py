"""The Unity pack: the fifteen tools of EditorMCP v0.1 and three of our own over the files of one project, never written to.

Settings: `root` (required), the folder of the project; `boundary`, a folder around it from which local packages may be
read. What was learned about the project is kept in the state folder of the server, so that a restart is quick.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue, render_sorted
from strictwire.contract.handler import Answer, CallContext, Handler, Memo
from strictwire.packs.pack import Environment, PackRefused
from strictwire.packs.unity.binary.documents import maybe_binary_reader
from strictwire.packs.unity.project.find import NotAProject
from strictwire.packs.unity.references.index import ProjectIndex
from strictwire.packs.unity.session import Session
from strictwire.packs.unity.tools import (
    assets,
    components,
    diff,
    editor,
    graph,
    health,
    missing,
    mixers,
    project,
    scenes,
    summary,
    usages,
)
from strictwire.packs.unity.tools.higher_tiers import higher_tier_tools, refuse
from strictwire.packs.unity.tools.platform import Platform, editor_facts
from strictwire.packs.unity.tools.reply import Guard, KnownReply, Replies, Reply, Request, Tool
from strictwire.packs.unity.watching import ProjectWatch

_SETTINGS: Final = ("root", "boundary")

GUARDS: Final[Mapping[str, float]] = {"project.references.missing": 15.0, "project.assets.summary": 10.0}
"""Seconds after which a tool answers with what it has (E9)."""

GUARD: Final = 25.0
"""The same for all others: early enough to answer before the call itself times out after 30 seconds."""


class UnityPack:
    """See packs.pack.Pack."""

    name: Final = "unity"
    tools: Final = (
        "mcp.server.info",
        "mcp.tools.list",
        "mcp.tool.describe",
        "project.info",
        "project.scenes.list",
        "project.assets.summary",
        "project.references.missing",
        "scene.hierarchy.dump",
        "scene.objects.find",
        "scene.components.list",
        "asset.info",
        "asset.dependencies.graph",
        "audio.mixer.list",
        "audio.mixer.snapshot.read",
        "editor.selection.info",
        "asset.find_usages",
        "project.health",
        "scene.diff",
    )
    schemas: Path | None = None

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` gives seconds that only go forward."""
        self._clock = clock
        self._session: Session | None = None
        self._replies = Replies()

    async def open(self, environment: Environment) -> Mapping[str, Handler]:
        """See Pack. Raises PackRefused: `root` is not the folder of a Unity project."""
        session = self._session = _open_session(environment)
        higher = tuple(higher_tier_tools())
        for contract in higher:
            environment.offer(contract, refuse)
        environment.describe_editor(lambda: editor_facts(session.snapshot().project))
        platform = Platform((*environment.contracts, *higher))
        served: tuple[Tool, ...] = (
            platform.info,
            platform.list_tools,
            platform.describe,
            project.info,
            project.list_scenes,
            summary.summarise,
            missing.find_missing,
            scenes.dump,
            scenes.find,
            components.list_components,
            assets.info,
            graph.graph,
            mixers.list_mixers,
            mixers.read_snapshot,
            editor.selection,
            usages.usages,
            health.health,
            diff.diff,
        )
        return {name: self._bind(name, tool, session) for name, tool in zip(self.tools, served, strict=True)}

    async def close(self) -> None:
        """See Pack."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def _bind(self, name: str, tool: Tool, session: Session) -> Handler:
        """A plain function: it runs off the event loop, and any number of them at once."""

        def handle(arguments: JsonObject, context: CallContext) -> Answer:
            snapshot, tier = session.snapshot(), context.facts.get("tier") or "core"
            replies, key = self._replies.of(snapshot), (name, render_sorted([tier, arguments]))
            known = replies.get(key)
            if known is None:
                guard = Guard(self._clock, GUARDS.get(name, GUARD))
                reply = tool(Request(arguments=arguments, session=session, snapshot=snapshot, guard=guard, tier=tier))
                known = KnownReply(answer=answer(reply), notes=reply.notes)
                if reply.is_final:
                    replies.put(key, known)
            for note in known.notes:
                context.diagnose(note)
            return known.answer

        return handle


def answer(reply: Reply) -> Answer:
    """A reply as MCP shows it. Notes are part of the text, because MCP has no member for them."""
    text = "\n".join([reply.text, *(f"Note: {note}" for note in reply.notes)])
    # Checking and rendering a whole hierarchy takes longer than all the rest of a call that finds nothing changed.
    return Answer(structured=reply.output, content=({"type": "text", "text": text},), memo=Memo())


def _open_session(environment: Environment) -> Session:
    settings = environment.settings
    unknown = sorted(settings.keys() - set(_SETTINGS))
    if unknown:
        raise PackRefused("unity", f"unknown setting `{unknown[0]}`; known are {', '.join(_SETTINGS)}")
    root, boundary = _folder(settings, "root"), _folder(settings, "boundary")
    if root is None:
        raise PackRefused("unity", "expected a setting `root`, the folder of the Unity project")
    state = environment.state / "unity" if environment.state is not None else None
    watch = ProjectWatch(root)
    try:
        index = ProjectIndex(root, boundary=boundary, folder=state, has_changed=watch.has_changed)
    except (NotAProject, ValueError) as exc:
        watch.close()
        raise PackRefused("unity", str(exc)) from exc
    around = (boundary or root).resolve()
    watch.add_trees(around / each.place for each in index.project().packages.known.values() if each.place)
    return Session(index, watch, maybe_binary_reader())


def _folder(settings: Mapping[str, JsonValue], name: str) -> Path | None:
    value = settings.get(name)
    if value is not None and (not isinstance(value, str) or not value):
        raise PackRefused("unity", f"setting `{name}`: expected the path of a folder")
    return Path(value) if value else None
