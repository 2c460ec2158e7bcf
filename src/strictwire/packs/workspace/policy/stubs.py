"""Finds functions that are not there yet: a body that only says so, or none where something is promised; and, in a change,
functions that had a body and have none any more."""

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
"""What a statement says that only marks a hole."""

_PROMISED: Final = re.compile(
    r"(?i)implemented yet|not yet implemented|implement me|\btodo\b|\blater\b|follow-?up|coming (?:in|soon)"
)
"""The same of methods that subclasses fill in, where `not implemented` alone is how that is written."""

_STOPS: Final = re.compile(
    r"^(?:throw\b|raise\b|panic!?\(|todo!|unimplemented!|abort\(|assert\w*\(|return\s+(?:\w+,\s*)*(?:errors\.New|fmt\.Errorf|Err\()"
    r"|Err\(|f?printf\(|std::abort\(|LOG\()"
)
"""How a statement begins that ends a function with a message."""

_HOLE: Final = re.compile(r"""["'`](?:TODO\b|[Ii]mplement me)""")
"""How a message begins that nobody was meant to see."""

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
"""A statement that gives a constant, or nothing."""

_TO_DO: Final = re.compile(
    r"(?im)\b(?:todo|fixme)\b(?:\([^)\n]*\))?[\s:.!-]*(?:implement|auto-generated|write|fill|finish|complete|add the|\*/|$)"
    r"|\bimplement (?:this|me|it|here)\b|\bmethod stub\b|\bplaceholder\b|\b(?:todo|fixme)\W+actually\b"
    r"|\bfor now\b|\bmock(?:ed)?\b|\b(?:would|should) normally\b|\bnormally\b[^\n]{0,20}\bwould\b"
    r"|\bpretend\b|\bsimulat(?:e|ed|ing)\b"
)
"""What a comment says that stands for a body. A TODO about something else is none."""

_ABSTRACT: Final = re.compile(
    r"\b(?:abstractmethod|overload|Protocol|ABC|ABCMeta|abc\.|Interface|NoReturn|Never|singledispatch|runtime_checkable)\b"
)
"""What in Python says that a body is not expected."""


def find_stubs(source: Source) -> Iterator[int]:
    """The rows of functions that do nothing but stand there."""
    for function in source.functions:
        if _says_unfinished(source, function) or _is_marked(source, function) or _is_hollow_promise(source, function):
            yield function.node.start_point[0]
    if _HOLE.search(source.text):
        yield from _find_holes(source)


def _find_holes(source: Source) -> Iterator[int]:
    """The rows of errors in some branch that say that the branch is to be written."""
    kinds = {"python": "(raise_statement) @hit", "java": "(throw_statement) @hit", "cpp": "(throw_statement) @hit"}
    kinds |= dict.fromkeys(("javascript", "typescript", "tsx"), "(throw_statement) @hit")
    yield from (each.start_point[0] for each in source.hits(kinds) if _HOLE.search(text_of(each)))


def _says_unfinished(source: Source, function: Function) -> bool:
    """A body that only stops with a message that it is not written."""
    done = function.statements
    if not 0 < len(done) <= 2 or not all(_STOPS.match(text_of(each)) or _is_trivial(each) for each in done):
        return False
    said = " ".join(text_of(each) for each in done)
    if source.language == "python":
        if _PROMISED.search(said):
            return not _is_for_others(function)
        return "NotImplementedError" in said and _is_of_module(function) and not _is_for_others(function)
    return bool(_UNFINISHED.search(said)) and not said.startswith(("todo!", "unimplemented!"))


def _is_marked(source: Source, function: Function) -> bool:
    """A body of constants alone, with a comment that says that the code is still to come."""
    if len(function.statements) > 1 or not all(map(_is_trivial, function.statements)):
        return False
    if function.docstring and not function.statements:
        return False
    first, last = function.body.start_point[0], function.body.end_point[0]
    return any(_TO_DO.search(source.comment_rows.get(row, "")) for row in range(first, last + 1))


def _is_hollow_promise(source: Source, function: Function) -> bool:
    """In Python: `pass` or `...`, where the type of the result, or a docstring about parameters, promises more."""
    if source.language != "python" or function.node.parent.type != "module":
        return False
    if not function.statements or not all(map(_is_nothing, function.statements)):
        return False
    if function.name in source.nested_names:
        return False  # a declaration for type checkers; the body follows
    result = function.node.child_by_field_name("return_type")
    if result is not None:
        return text_of(result) not in ("None", "NoReturn", "Never")
    taken = function.node.child_by_field_name("parameters").named_children
    return bool(function.docstring) and any("splat" not in each.type for each in taken)


def _is_of_module(function: Function) -> bool:
    """Whether a function stands at the top of its module, for no other condition than being there.

    A decorator that is called without arguments may give the function another body; a route or a command does not."""
    parent = function.node.parent
    if parent.type == "decorated_definition":
        decorators = [each for each in parent.named_children if each.type == "decorator"]
        return parent.parent.type == "module" and all("(" in text_of(each) for each in decorators)
    return bool(parent.type == "module")


def _is_for_others(function: Function) -> bool:
    """Whether a Python function is declared to have no body of its own."""
    around = [each for each in ancestors(function.node) if each.type in ("decorated_definition", "class_definition")]
    heads = [text_of(each).partition("):\n")[0][:400] for each in (function.node, *around)]
    return any(_ABSTRACT.search(head) for head in heads)


def _is_trivial(statement: Any) -> bool:
    return bool(_TRIVIAL.match(text_of(statement)))


def _is_nothing(statement: Any) -> bool:
    return statement.type == "pass_statement" or text_of(statement) == "..."


def find_emptied(before: Source, after: Source) -> Iterator[int]:
    """The rows of functions that did something before the change and do nothing after it."""
    had, has = _by_name(before), _by_name(after)
    for name, functions in has.items():
        hollow = [each for each in functions if _is_hollow(each)]
        hollow_before = sum(map(_is_hollow, had[name]))
        lost = min(len(hollow) - hollow_before, sum(map(_does_something, had[name])) - (len(functions) - len(hollow)))
        yield from (each.node.start_point[0] for each in hollow[len(hollow) - max(lost, 0) :])


def _by_name(source: Source) -> dict[str, list[Function]]:
    found: dict[str, list[Function]] = defaultdict(list)
    for each in source.functions:
        if each.name:
            found[each.name].append(each)
    return found


def _is_hollow(function: Function) -> bool:
    done = function.statements
    return len(done) <= 1 and all(_is_trivial(each) or _GIVES_UP.match(text_of(each)) for each in done)


def _does_something(function: Function) -> bool:
    """Two statements, or one of several lines: what has less can go without a loss."""
    done = function.statements
    return not _is_hollow(function) and (len(done) >= 2 or done[-1].end_point[0] - done[0].start_point[0] >= 2)
