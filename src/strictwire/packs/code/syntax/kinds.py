"""Where in the syntax a word stands: in code, in a string that may name something, or in prose."""

from __future__ import annotations

import re
from typing import Any, Final

from strictwire.packs.code.engine import MentionKind
from strictwire.packs.kit.grammars import parse

_NAME_LIKE: Final = re.compile(r"[\w.:/$@-]+")
"""What a string that names something is made of: `package.module.name`, `../lib/file`."""

_TYPE_COMMENT: Final = re.compile(r"#\s*type:|@\w+\s*\{")
"""Comments that hold types: Python's `# type:`, and JSDoc's `@param {T}`."""


_IMPORTS: Final = ("import", "export_specifier", "use_declaration", "using_declaration", "preproc_include", "future_import")
"""How the types of nodes that import begin."""


class MentionKinds:
    """Tells where words of one file stand. `raw` is normalised."""

    def __init__(self, grammar: str, raw: bytes) -> None:
        self._root = parse(grammar, raw)

    def kind_at(self, start: int, end: int) -> MentionKind:
        """The kind of a byte span. In doubt it is CODE, so that nothing is passed over."""
        node = self._root.descendant_for_byte_range(start, end)
        while node is not None:
            verdict = _verdict(node)
            if verdict is not None:
                return verdict
            node = node.parent
        return MentionKind.CODE

    def is_import(self, start: int, end: int) -> bool:
        """Whether a byte span is part of an import, which declares a name that it does not define."""
        node = self._root.descendant_for_byte_range(start, end)
        while node is not None:
            if node.type.startswith(_IMPORTS):
                return True
            node = node.parent
        return False


def _verdict(node: Any) -> MentionKind | None:
    kind: str = node.type
    if kind in ("interpolation", "template_substitution", "ERROR"):
        return MentionKind.CODE
    if "comment" in kind:
        return MentionKind.CODE if _TYPE_COMMENT.search(node.text.decode("utf-8", "replace")) else MentionKind.TEXT
    if kind in ("string", "template_string") or kind.endswith("string_literal"):
        return _string_verdict(node)
    return None


def _string_verdict(node: Any) -> MentionKind:
    is_docstring = node.parent is not None and node.parent.type == "expression_statement"
    content = node.text.decode("utf-8", "replace").strip("bBfFrRuU").strip("\"'`")
    return MentionKind.STRING if not is_docstring and _NAME_LIKE.fullmatch(content) else MentionKind.TEXT
