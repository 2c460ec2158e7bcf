"""Finds errors that are caught and dropped without a word.

An empty handler is none of these where the code says what becomes of the error: a comment gives a reason; all that was
tried is to let go of something; or what was tried has another way after it (it returns, or sets what has a value already).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from strictwire.packs.workspace.policy.source import Function, Source, ancestors, statements_of, text_of, walk

_BROAD: Final = frozenset({"Exception", "BaseException"})
"""What in Python catches also what nobody thought of. A handler that names its error has thought of it."""

_NAMED_AWAY: Final = re.compile(r"(?i)^(?:_\w*|ignored?\w*|(?:expected|unused|swallowed|noop)\d*)$")
"""Names of a caught error that say that it does not matter."""

_IDLE_TEXT: Final = """
ignore ignored ignores ignoring noop no op nothing do does pass empty silent silently swallow swallowed error errors err
exception exceptions e ex the this that it here intentionally intentional left blank block any all just and catch
on purpose to
"""
_IDLE_WORDS: Final = frozenset(_IDLE_TEXT.split())
"""Words that give no reason."""

_TO_DO: Final = re.compile(r"(?i)\b(?:todo|fixme)\b")
"""Who will handle it later does not now."""

_DIRECTIVE: Final = re.compile(
    r"(?i)\b(?:noqa|nosec|nolint|type:\s*ignore|pylint:|pragma:|eslint-|istanbul|c8|v8|tslint:|noinspection|NOSONAR)[^\n#]*"
)
"""What is said to a tool is said to nobody else."""

_RELEASE_TEXT: Final = """
close stop shutdown kill terminate unlink remove rm rmtree rmdir delete drop cancel disconnect release dispose destroy abort
unregister unsubscribe detach clean cleanup teardown clear free exit quit unlock rollback unwatch unref
"""
_RELEASES: Final = frozenset(_RELEASE_TEXT.split())
"""Words in the names of calls that let go of something: if that fails, it was gone already."""

_SEQUENCES: Final = (
    "block",
    "statement_list",
    "compound_statement",
    "switch_body",
    "switch_case",
    "switch_default",
    "program",
)
_NEAR: Final = 20_000
"""Bytes before an attempt in which its names are looked for, so that a long file takes no longer a handler."""

_LOOPS: Final = frozenset({"do_statement", "while_statement", "for_statement", "for_in_statement", "enhanced_for_statement"})
_QUIET: Final = frozenset({"expression_statement", "delete_statement", "import_statement", "import_from_statement"})
_AROUND: Final = frozenset(
    {"if_statement", "for_statement", "for_in_statement", "while_statement", "enhanced_for_statement"}
)

_Finder = Callable[[Source], Iterator[Any]]


def find_swallowed(source: Source) -> Iterator[int]:
    """The rows of handlers that drop an error."""
    finder = _FINDERS.get(source.language or "")
    for node in finder(source) if finder else ():
        if not _gives_reason(source, node):
            yield node.start_point[0]


def _gives_reason(source: Source, node: Any) -> bool:
    """Whether a comment inside, beside or right above says why."""
    first, last = node.start_point[0], node.end_point[0]
    said = " ".join(source.comment_rows.get(row, "") for row in range(first, last + 1))
    if source.lines[first - 1].lstrip().startswith(("#", "//", "/*", "*")):
        said += source.comment_rows.get(first - 1, "")
    return not _TO_DO.search(said) and bool(set(re.findall(r"[a-z]+", _DIRECTIVE.sub("", said).lower())) - _IDLE_WORDS)


def _python(source: Source) -> Iterator[Any]:
    for clause in source.hits({"python": "(except_clause) @hit"}):
        block = clause.named_children[-1]
        caught = next((each for each in clause.named_children if "comment" not in each.type), None)
        is_idle = block.type == "block" and all(_is_idle_python(each, clause.parent) for each in statements_of(block))
        if is_idle and _is_broad(caught) and not _has_other_way(source, clause.parent):
            yield clause
    for block in source.hits({"python": "(with_statement (with_clause (with_item (call) @c)) body: (block)) @hit"}):
        if re.match(r"with\s+(?:contextlib\.)?suppress\([^)]*\b(?:Base)?Exception\b", text_of(block)) and not _only_releases(
            block.child_by_field_name("body")
        ):
            yield block


def _is_idle_python(statement: Any, attempt: Any) -> bool:
    """Nothing is done. To go on with the next of a loop, or to leave, is something if more would have come here."""
    if statement.type == "continue_statement":
        return _next_statement(attempt) is None
    if statement.type == "return_statement":
        return not statement.named_children and not _goes_on(attempt)
    return statement.type == "pass_statement" or text_of(statement) == "..."


def _is_broad(caught: Any) -> bool:
    if caught is None or caught.type == "block":
        return True
    value = caught.named_children[0] if caught.type == "as_pattern" else caught
    names = value.named_children if value.type == "tuple" else [value]
    return any(text_of(name) in _BROAD for name in names)


def _catching(source: Source) -> Iterator[Any]:
    """Languages whose handlers are blocks after `catch`."""
    for clause in source.hits(dict.fromkeys(("javascript", "typescript", "tsx", "java", "cpp"), "(catch_clause) @hit")):
        body = clause.child_by_field_name("body")
        if body is None or statements_of(body) or _NAMED_AWAY.match(_caught_name(clause)):
            continue
        if not _has_other_way(source, clause.parent):
            yield clause


def _caught_name(clause: Any) -> str:
    named = clause.child_by_field_name("parameter")
    if named is None:
        named = next((each for each in clause.named_children if each.type == "catch_formal_parameter"), None)
        named = named.child_by_field_name("name") if named is not None else None
    return text_of(named) if named is not None else ""


def _has_other_way(source: Source, attempt: Any) -> bool:
    """Whether a `try` says what becomes of a failure by what it tried or by what follows it."""
    tried = attempt.child_by_field_name("body")
    if tried is None or any(each.type == "else_clause" for each in attempt.named_children):
        return True
    done = statements_of(tried)
    if not done or _only_releases(tried):
        return True
    if done[-1].type in ("raise_statement", "throw_statement") or _FAILS.match(text_of(done[-1])):
        return True
    return (_leaves(done[-1]) and (_goes_on(attempt) or _says_it_tries(attempt))) or _only_sets(source, done, attempt)


_FAILS: Final = re.compile(r"(?:\w+\.)*(?:fail|ADD_FAILURE|FAIL|assert_?[nN]ot_?[rR]eached|unreachable)\(")
"""The end of what is tried in a test that expects the error."""

_TRIES: Final = frozenset({"try", "maybe", "safe", "safely"})


def _says_it_tries(node: Any) -> bool:
    """Whether the function around has a name that says that it may come to nothing."""
    return bool(_words_around(node) & _TRIES)


def _function_around(node: Any) -> Any:
    return next((each for each in ancestors(node) if "function" in each.type or "method" in each.type), None)


def _words_around(node: Any) -> set[str]:
    """The words in the name of the function around."""
    around = _function_around(node)
    return set() if around is None else _words(Function(around, None).name.rpartition(".")[2])


def _leaves(statement: Any) -> bool:
    kinds = ("return_statement", "break_statement", "continue_statement")
    return any(each.type in kinds for each in walk(statement)) and "function" not in statement.type


def _next_statement(node: Any) -> Any:
    found = node.next_named_sibling
    while found is not None and "comment" in found.type:
        found = found.next_named_sibling
    return found


def _goes_on(node: Any) -> bool:
    """Whether anything of the function comes after a node, be it the next turn of a loop."""
    for each in (node, *ancestors(node)):
        if "function" in each.type or "method" in each.type:
            return False
        if each.type in _LOOPS:
            return True
        if _next_statement(each) is not None and each.parent.type.endswith(_SEQUENCES):
            return True
    return False


def _only_releases(block: Any) -> bool:
    released = []
    for each in statements_of(block):
        if each.type not in _QUIET | _AROUND:
            return False
        released += [
            _is_release(inner) for inner in walk(each) if inner.type in ("expression_statement", "delete_statement")
        ]
    return bool(released) and all(released)


def _is_release(statement: Any) -> bool:
    if statement.type == "delete_statement" or text_of(statement).startswith("delete "):
        return True
    return bool(_words(_called(statement)) & _RELEASES)


def _words(name: str) -> set[str]:
    """The words of a name, whichever way they are joined."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}


def _called(statement: Any) -> str:
    """The last name of the function that a statement calls; empty if it calls none."""
    call = statement.named_children[0] if statement.named_children else statement
    while call.type in ("await_expression", "await", "unary_expression", "parenthesized_expression"):
        call = call.named_children[-1]
    return _name_called(call)


def _name_called(call: Any) -> str:
    target = call.child_by_field_name("function") or call.child_by_field_name("name")
    return re.split(r"[.:>]", text_of(target))[-1] if target is not None else ""


_SET: Final = re.compile(
    r"^(?:(?:const|let|var|final|auto)\s+)?(?:self\.|this\.)?([\w$]+)"
    r"(?:(?:\.[\w$]+|\[[^\]]*\])*\s*(?::[^=\n]+)?[-+|&*/]?=(?!=)|(?:\.[\w$]+|\[[^\]]*\])*\.(?:append|add|extend|update|push|put|set)\()"
)
"""A value is set, or put into a collection."""


def _only_sets(source: Source, done: list[Any], attempt: Any) -> bool:
    """Whether what was tried ends with setting a value that stands before, by which its failure is seen; or whether all of
    it is to set values or to look for a module."""
    if all(_is_lookup(each) for each in done) or _stands_before(source, done[-1], attempt):
        return True
    leaves = [each for statement in done for each in _inner(statement)]
    return all(_is_setting(each) or _is_lookup(each) for each in leaves) and _stands_before(source, leaves[-1], attempt)


def _inner(statement: Any) -> list[Any]:
    """The statements inside a condition or a loop; else the statement itself."""
    if statement.type not in _AROUND:
        return [statement]
    kinds = ("statement", "declaration")
    return [each for each in walk(statement) if each.type.endswith(kinds) and each.type not in _AROUND] or [statement]


def _is_lookup(statement: Any) -> bool:
    pattern = r"(?:(?:const|let|var)\s+[^=]+=\s*|return\s+|\(?[\w$]+ = )?(?:await\s+)?_*(?:require|import)\b"
    return "import" in statement.type or bool(re.match(pattern, text_of(statement)))


def _is_setting(statement: Any) -> bool:
    return bool(_SET.match(text_of(statement)))


def _stands_before(source: Source, statement: Any, attempt: Any) -> bool:
    named = _SET.match(text_of(statement))
    if named is None:
        return False
    if statement.type == "variable_declaration":  # `var` of JavaScript stands in the whole function
        return True
    around = _function_around(attempt) or source.root
    before = source.data[max(0, attempt.start_byte - _NEAR) : attempt.start_byte].decode(errors="replace")
    name = rf"(?<![\w$.]){re.escape(named[1])}(?![\w$])"
    start = max(around.start_byte, attempt.start_byte - _NEAR)
    here = source.data[start : attempt.start_byte].decode(errors="replace")
    return bool(re.search(name, here) or re.search(rf"(?m)^\s*(?:var|let|(?:\w+\s+)*static)\s[^;\n=]*{name}", before))


_DROPPED_REJECTION: Final = re.compile(
    r"\.catch\(\s*(?:function\s*\([^)]*\)|\(?[^()]*\)?\s*=>)\s*(?:\{\s*(?:/[/*][^}]*)?\}|undefined|null|void 0)\s*,?\s*\)$"
)
_DROPPING: Final = frozenset(
    {"expression_statement", "await_expression", "unary_expression", "return_statement", "arrow_function"}
)
"""Where the outcome of a promise is used by nobody."""


def _script(source: Source) -> Iterator[Any]:
    yield from _catching(source)
    query = '(call_expression function: (member_expression property: (property_identifier) @p) (#eq? @p "catch")) @hit'
    for call in source.hits(dict.fromkeys(("javascript", "typescript", "tsx"), query)):
        if _DROPPED_REJECTION.search(text_of(call)) and _is_dropped(call):
            yield call


def _is_dropped(call: Any) -> bool:
    """Whether nobody else has the promise: it was just made, and neither kept nor waited for with another value."""
    made = call.child_by_field_name("function").child_by_field_name("object")
    if made.type != "call_expression" or _words(_name_called(made)) & _RELEASES:
        return False
    parent = call.parent
    while parent.type in ("await_expression", "unary_expression"):
        parent = parent.parent
    return parent.type in _DROPPING


def _go(source: Source) -> Iterator[Any]:
    for branch in source.hits({"go": "(if_statement condition: (binary_expression right: (nil))) @hit"}):
        block, test = branch.child_by_field_name("consequence"), text_of(branch.child_by_field_name("condition"))
        if (
            re.match(r"\w*[eE]rr\w*\s*!=", test)
            and not statements_of(block)
            and branch.child_by_field_name("alternative") is None
        ):
            yield branch
    for dropped in source.hits({"go": "[(assignment_statement) (expression_statement)] @hit"}):
        if re.match(
            r"(?:_ = )?recover\(\)$|_ = (?:os|ioutil)\.(?:Write|Rename|Mkdir|Create|Symlink|Truncate)", text_of(dropped)
        ):
            yield dropped


_DROPPED_WRITE: Final = re.compile(r"let _ = (?:std::|tokio::)?fs::(?:write|rename|copy|create_dir|hard_link|set_perm)")
_DROPPED_ERR: Final = re.compile(r"if let Err\(_\w*\) = [^{]*\{\s*\}$")


def _rust(source: Source) -> Iterator[Any]:
    for each in source.hits({"rust": "(let_declaration) @hit"}):
        if _DROPPED_WRITE.match(text_of(each)):
            yield each
    for each in source.hits({"rust": "(if_expression) @hit"}):
        if _DROPPED_ERR.match(text_of(each)):
            yield each
    for each in source.hits({"rust": "(match_block) @hit"}):
        arms = [text_of(arm) for arm in each.named_children if arm.type == "match_arm"]
        if len(arms) == 2 and all(re.search(r"=>\s*(?:\{\s*\}|\(\)),?$", arm) for arm in arms) and "Err(_" in "".join(arms):
            yield each


_FINDERS: Final[Mapping[str, _Finder]] = MappingProxyType(
    {
        "python": _python,
        "javascript": _script,
        "typescript": _script,
        "tsx": _script,
        "java": _catching,
        "cpp": _catching,
        "go": _go,
        "rust": _rust,
    }
)
