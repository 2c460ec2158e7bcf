"""Finds unfinished functions: a body that only says so, or no body where the signature promises a result; and, in a change,
functions that have lost their body."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

from strictwire.packs.workspace.policy.source import Function, Source, ancestors, text_of

_UNFINISHED: Final = re.compile(
    r"(?i)not[ -](?:yet[ -])?(?:been[ -])?implemented(?! (?:for|on|in|by)\b)|unimplemented"
    r"|implement me|\btodo\b|NotImplemented\w*\("
)
"""Texts of a statement that only marks missing code."""

_PROMISED: Final = re.compile(
    r"(?i)implemented yet|not yet implemented|implement me|\btodo\b|\blater\b|follow-?up|coming (?:in|soon)"
)
"""The same for methods that subclasses implement, where a plain "not implemented" is normal."""

_STOPS: Final = re.compile(
    r"^(?:throw\b|raise\b|panic!?\(|todo!|unimplemented!|abort\(|assert\w*\(|return\s+(?:\w+,\s*)*(?:errors\.New|fmt\.Errorf|Err\()"
    r"|Err\(|f?printf\(|std::abort\(|LOG\()"
)
"""Beginnings of statements that end a function with a message."""

_TODO_MESSAGE: Final = re.compile(r"""["'`](?:TODO\b|[Ii]mplement me)""")
"""Beginnings of an error message that marks missing code."""

_GIVES_UP: Final = re.compile(
    rf"(?is){_STOPS.pattern}.*(?:{_UNFINISHED.pattern.removeprefix('(?i)')}"
    r"|NotImplementedError|UnsupportedOperationException\(\))"
    r"|^(?:todo|unimplemented)!|^(?:std::)?abort\("
)
"""A statement that says that there is no body."""

_TRIVIAL: Final = re.compile(
    r"^(?:return\b)?\s*(?:None|null|nil|NULL|nullptr|undefined|true|false|True|False|-?\d[\d.]*|\"\"|''|\[\]|\{\}|\(\)|Ok\(\(\)\)"
    r"|Ok\(None\)|String::new\(\)|vec!\[\]|std::string\(\))?(?:\s+as\s+\w+)?\s*;?$|^pass$|^\.\.\.$"
)
"""A statement that returns a constant or does nothing."""

_TO_DO: Final = re.compile(
    r"(?im)\b(?:todo|fixme)\b(?:\([^)\n]*\))?[\s:.!-]*(?:implement|auto-generated|write|fill|finish|complete|add the|\*/|$)"
    r"|\bimplement (?:this|me|it|here)\b|\bmethod stub\b|\bplaceholder\b|\b(?:todo|fixme)\W+actually\b"
    r"|\bfor now\b|\bmock(?:ed)?\b|\b(?:would|should) normally\b|\bnormally\b[^\n]{0,20}\bwould\b"
    r"|\bpretend\b|\bsimulat(?:e|ed|ing)\b"
)
"""Comments that stand for a body. A TODO about something else does not match."""

_ABSTRACT: Final = re.compile(
    r"\b(?:abstractmethod|overload|Protocol|ABC|ABCMeta|abc\.|Interface|NoReturn|Never|singledispatch|runtime_checkable)\b"
)
"""Words in Python code that declare that no body is expected."""


def find_stubs(source: Source) -> Iterator[int]:
    """Yield the rows of functions that are stubs, and of errors that mark missing code."""
    for function in source.functions:
        if _says_unfinished(source, function) or _is_marked(source, function) or _is_hollow_promise(source, function):
            yield function.node.start_point[0]
    if _TODO_MESSAGE.search(source.text):
        yield from _find_todo_errors(source)


def _find_todo_errors(source: Source) -> Iterator[int]:
    """Yield the rows of raised errors whose message says that a branch is still to be written."""
    kinds = {"python": "(raise_statement) @hit", "java": "(throw_statement) @hit", "cpp": "(throw_statement) @hit"}
    kinds |= dict.fromkeys(("javascript", "typescript", "tsx"), "(throw_statement) @hit")
    yield from (each.start_point[0] for each in source.hits(kinds) if _TODO_MESSAGE.search(text_of(each)))


def _says_unfinished(source: Source, function: Function) -> bool:
    """Return whether the body only stops with a message that it is not written."""
    statements = function.statements
    if not 0 < len(statements) <= 2 or not all(_STOPS.match(text_of(each)) or _is_trivial(each) for each in statements):
        return False
    body = " ".join(text_of(each) for each in statements)
    if source.language == "python":
        if _PROMISED.search(body):
            return not _is_abstract(function)
        return "NotImplementedError" in body and _is_at_top_level(function) and not _is_abstract(function)
    return bool(_UNFINISHED.search(body)) and not body.startswith(("todo!", "unimplemented!"))


def _is_marked(source: Source, function: Function) -> bool:
    """Return whether the body is only a constant, with a comment that says that the code is still to come."""
    if len(function.statements) > 1 or not all(map(_is_trivial, function.statements)):
        return False
    if function.docstring and not function.statements:
        return False
    first, last = function.body.start_point[0], function.body.end_point[0]
    return any(_TO_DO.search(source.comment_rows.get(row, "")) for row in range(first, last + 1))


def _is_hollow_promise(source: Source, function: Function) -> bool:
    """Return whether a Python body is `pass` or `...` although its return type or its documented parameters promise more."""
    if source.language != "python" or function.node.parent.type != "module":
        return False
    if not function.statements or not all(map(_is_nothing, function.statements)):
        return False
    if function.name in source.nested_names:
        return False  # a declaration for type checkers; the definition follows
    result = function.node.child_by_field_name("return_type")
    if result is not None:
        return text_of(result) not in ("None", "NoReturn", "Never")
    taken = function.node.child_by_field_name("parameters").named_children
    return bool(function.docstring) and any("splat" not in each.type for each in taken)


def _is_at_top_level(function: Function) -> bool:
    """Return whether a function is at the top level of its module, unconditionally.

    A decorator without arguments may replace the body; one with arguments (a route, a command) usually does not."""
    parent = function.node.parent
    if parent.type == "decorated_definition":
        decorators = [each for each in parent.named_children if each.type == "decorator"]
        return parent.parent.type == "module" and all("(" in text_of(each) for each in decorators)
    return bool(parent.type == "module")


def _is_abstract(function: Function) -> bool:
    """Return whether a Python function is declared to have no body of its own."""
    around = [each for each in ancestors(function.node) if each.type in ("decorated_definition", "class_definition")]
    heads = [text_of(each).partition("):\n")[0][:400] for each in (function.node, *around)]
    return any(_ABSTRACT.search(head) for head in heads)


def _is_trivial(statement: Any) -> bool:
    return bool(_TRIVIAL.match(text_of(statement)))


def _is_nothing(statement: Any) -> bool:
    return statement.type == "pass_statement" or text_of(statement) == "..."


def find_emptied(before: Source, after: Source) -> Iterator[int]:
    """Yield the rows of functions that did something before the change and do nothing after it."""
    had, has = _by_name(before), _by_name(after)
    for name, functions in has.items():
        empty = [each for each in functions if _is_empty(each)]
        empty_before = sum(map(_is_empty, had[name]))
        lost = min(len(empty) - empty_before, sum(map(_is_substantial, had[name])) - (len(functions) - len(empty)))
        yield from (each.node.start_point[0] for each in empty[len(empty) - max(lost, 0) :])


def _by_name(source: Source) -> dict[str, list[Function]]:
    found: dict[str, list[Function]] = defaultdict(list)
    for each in source.functions:
        if each.name:
            found[each.name].append(each)
    return found


def _is_empty(function: Function) -> bool:
    statements = function.statements
    return len(statements) <= 1 and all(_is_trivial(each) or _GIVES_UP.match(text_of(each)) for each in statements)


def _is_substantial(function: Function) -> bool:
    """Return whether a function has two statements, or one of several lines. Losing less than that is no loss."""
    if _is_empty(function):
        return False
    statements = function.statements
    return len(statements) >= 2 or bool(statements[-1].end_point[0] - statements[0].start_point[0] >= 2)
