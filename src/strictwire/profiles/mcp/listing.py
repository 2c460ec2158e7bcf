"""How offers are shown in MCP lists, by revision, page by page. Written once a snapshot, then served as bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from strictwire.canon.digest import digest_bytes
from strictwire.canon.json import JsonObject, render
from strictwire.contract.registry import Registry
from strictwire.contract.tags import meta_with_tags
from strictwire.contract.tool import PromptContract, ResourceContract, ToolContract
from strictwire.fault.failure import Failure, fail
from strictwire.wire.revisions import Revision

PAGE: Final = 1000
"""Entries on one page. Many clients never ask for a second one, so a page holds more than people offer."""


def show_tool(tool: ToolContract, revision: Revision) -> JsonObject:
    """One entry of tools/list; members that the revision does not know are left out."""
    shown: JsonObject = {"name": tool.name}
    if revision.structured and tool.title:
        shown["title"] = tool.title
    shown |= {"description": tool.description, "inputSchema": tool.input_schema}
    output = tool.output_schema if tool.lists_output else None
    if revision.structured and output is not None and (revision.modern or output.get("type") == "object"):
        shown["outputSchema"] = output
    if revision.annotations and tool.annotations:
        shown["annotations"] = dict(tool.annotations)
    if revision.icons and tool.icons:
        shown["icons"] = list(tool.icons)
    meta = meta_with_tags(tool.meta, tool.tags)
    return shown | {"_meta": meta} if meta else shown


def show_resource(resource: ResourceContract, revision: Revision) -> JsonObject:
    """One entry of resources/list or resources/templates/list."""
    place = "uriTemplate" if resource.is_template else "uri"
    shown: JsonObject = {place: resource.uri, "name": resource.name}
    if revision.structured and resource.title:
        shown["title"] = resource.title
    meta = meta_with_tags(resource.meta, resource.tags)
    optional = {"description": resource.description, "mimeType": resource.mime_type, "_meta": meta}
    return shown | {name: value for name, value in optional.items() if value}


def show_prompt(prompt: PromptContract, revision: Revision) -> JsonObject:
    """One entry of prompts/list."""
    shown: JsonObject = {"name": prompt.name}
    if revision.structured and prompt.title:
        shown["title"] = prompt.title
    if prompt.description:
        shown["description"] = prompt.description
    if prompt.arguments:
        shown["arguments"] = [
            {"name": argument.name, "description": argument.description, "required": argument.required}
            for argument in prompt.arguments
        ]
    meta = meta_with_tags(prompt.meta, prompt.tags)
    return shown | {"_meta": meta} if meta else shown


LISTS: Final[Mapping[str, tuple[str, Callable[[Registry], Sequence[Any]], Callable[[Any, Revision], JsonObject]]]] = {
    "tools/list": ("tools", lambda registry: [each for each in registry.tools.values() if each.listed], show_tool),
    "resources/list": (
        "resources",
        lambda registry: [each for each in registry.resources.values() if not each.is_template],
        show_resource,
    ),
    "resources/templates/list": (
        "resourceTemplates",
        lambda registry: [each for each in registry.resources.values() if each.is_template],
        show_resource,
    ),
    "prompts/list": ("prompts", lambda registry: list(registry.prompts.values()), show_prompt),
}
"""Method to: the member that holds the entries, which entries, how one is shown."""


class Lister:
    """Writes list pages, and keeps them for as long as the same snapshot is in force."""

    def __init__(self, page: int = PAGE) -> None:
        self._page = page
        self._registry: Registry | None = None
        self._written: dict[tuple[str, str], tuple[str, list[bytes]]] = {}

    def page(
        self, method: str, registry: Registry, revision: Revision, cursor: object
    ) -> tuple[bytes, str | None] | Failure:
        """The entries of one page as a JSON array, with the member name before it, and the next cursor.

        INVALID_CURSOR: not one that we gave, or given before the offers changed.
        """
        if registry is not self._registry:
            self._registry, self._written = registry, {}
        return self._cut(*self._pages(method, registry, revision), cursor)

    def page_of(
        self, method: str, entries: Sequence[Any], revision: Revision, cursor: object
    ) -> tuple[bytes, str | None] | Failure:
        """The same for entries that were chosen for one caller. Nothing is kept."""
        return self._cut(*self._write(method, entries, revision), cursor)

    def _cut(self, mark: str, pages: list[bytes], cursor: object) -> tuple[bytes, str | None] | Failure:
        index = self._index(cursor, mark, len(pages))
        if index is None:
            return fail("INVALID_CURSOR")
        following = f"{mark}.{index + 1}" if index + 1 < len(pages) else None
        return pages[index], following

    def _pages(self, method: str, registry: Registry, revision: Revision) -> tuple[str, list[bytes]]:
        """The pages, and a mark that changes whenever any of them does."""
        key = (method, revision.name)
        if key not in self._written:
            self._written[key] = self._write(method, LISTS[method][1](registry), revision)
        return self._written[key]

    def _write(self, method: str, entries: Sequence[Any], revision: Revision) -> tuple[str, list[bytes]]:
        member, _, show = LISTS[method]
        shown = [show(each, revision) for each in entries]
        cuts = range(0, max(len(shown), 1), self._page)
        pages = [b"%b:%b" % (render(member), render(shown[cut : cut + self._page])) for cut in cuts]
        return digest_bytes(b"\n".join(pages))[7:19], pages

    @staticmethod
    def _index(cursor: object, mark: str, pages: int) -> int | None:
        if cursor is None:
            return 0
        # Compared as text: a number that a stranger wrote is not read.
        return next((index for index in range(1, pages) if cursor == f"{mark}.{index}"), None)
