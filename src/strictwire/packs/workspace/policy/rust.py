"""Rules for Rust only: macros that take the place of code, and unwrapped external input. Tests are exempt."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from strictwire.packs.workspace.policy.source import Source, ancestors, text_of

_MACROS: Final = '(macro_invocation macro: (identifier) @m (#any-of? @m "todo" "unimplemented" "dbg")) @hit'
_UNWRAPS: Final = '(call_expression function: (field_expression field: (field_identifier) @f) (#eq? @f "unwrap")) @hit'

_EXTERNAL: Final = re.compile(
    r"\benv::(?:var|var_os|args)\(.*\)$|\b(?:fs::\w+|File::(?:open|create)|OpenOptions::new)\(.*\)$|\.read_(?:line|to_string|to_end)\(.*\)$"
    r"|\.parse(?:::<.*>)?\(\)$|\b(?:TcpStream|TcpListener|UdpSocket)::\w+\(.*\)$|\b(?:serde_\w+|toml|json)::from_(?:str|slice|reader)(?:::<.*>)?\(.*\)$",
    re.DOTALL,
)
"""Calls that fail depending on external input: files, the environment, the network, parsed text."""

_TEST_PATH: Final = re.compile(r"(?:^|/)(?:tests?|benches|examples?)/|(?:^|/)(?:build|tests?|\w+_tests?|test_\w+)\.rs$")


_TEST_MARK: Final = re.compile(r"\btest\b")


def find_unfinished(source: Source) -> Iterator[int]:
    """Yield the rows of macros that take the place of missing code."""
    yield from (node.start_point[0] for node in source.hits({"rust": _MACROS}) if not _is_in_test(source, node))


def find_unwrapped(source: Source) -> Iterator[int]:
    """Yield the rows where external input is unwrapped."""
    for node in source.hits({"rust": _UNWRAPS}):
        value = node.child_by_field_name("function").child_by_field_name("value")
        if _EXTERNAL.search(text_of(value)) and not _is_in_test(source, node):
            yield node.start_point[0]


def _is_in_test(source: Source, node: Any) -> bool:
    return bool(_TEST_PATH.search(source.path)) or any(_TEST_MARK.search(_attributes(each)) for each in ancestors(node))


def _attributes(node: Any) -> str:
    """Return the attributes in front of an item."""
    found, before = "", node.prev_named_sibling
    while before is not None and before.type == "attribute_item":
        found, before = text_of(before) + found, before.prev_named_sibling
    return found
