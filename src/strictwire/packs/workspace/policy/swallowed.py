"""Finds errors that are caught and silently ignored.

An empty handler is not a finding if the code explains what happens to the error: a comment gives a reason; the attempt only
releases a resource; or the attempt has an alternative after it (it returns, or sets a variable that already has a value).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from strictwire.packs.workspace.policy.source import Function, Source, ancestors, statements_of, text_of, walk

_BROAD: Final = frozenset({"Exception", "BaseException"})
"""Python classes that also catch unforeseen errors. A handler that names a specific error has considered it."""

_IGNORED_NAME: Final = re.compile(r"(?i)^(?:_\w*|ignored?\w*|(?:expected|unused|swallowed|noop)\d*)$")
"""Names of a caught error that declare that it does not matter."""

_FILLER_TEXT: Final = """
ignore ignored ignores ignoring noop no op nothing do does pass empty silent silently swallow swallowed error errors err
exception exceptions e ex the this that it here intentionally intentional left blank block any all just and catch
on purpose to
"""
_FILLER_WORDS: Final = frozenset(_FILLER_TEXT.split())
"""Words in a comment that give no reason."""

_TO_DO: Final = re.compile(r"(?i)\b(?:todo|fixme)\b")
"""A comment that postpones the handling is not a reason."""

_DIRECTIVE: Final = re.compile(
    r"(?i)\b(?:noqa|nosec|nolint|type:\s*ignore|pylint:|pragma:|eslint-|istanbul|c8|v8|tslint:|noinspection|NOSONAR)[^\n#]*"
)
"""Directives to tools, which are not reasons."""

_RELEASE_TEXT: Final = """
close stop shutdown kill terminate unlink remove rm rmtree rmdir delete drop cancel disconnect release dispose destroy abort
unregister unsubscribe detach clean cleanup teardown clear free exit quit unlock rollback unwatch unref
"""
_RELEASES: Final = frozenset(_RELEASE_TEXT.split())
"""Words in names of calls that release a resource. If that fails, the resource is gone anyway."""

_BLOCK_TYPES: Final = (
    "block",
    "statement_list",
    "compound_statement",
    "switch_body",
    "switch_case",
    "switch_default",
    "program",
)
_NEAR: Final = 20_000
"""Bytes before an attempt that are searched for its variables. Bounds the work per handler in a long file."""

_LOOPS: Final = frozenset({"do_statement", "while_statement", "for_statement", "for_in_statement", "enhanced_for_statement"})
_SIMPLE: Final = frozenset({"expression_statement", "delete_statement", "import_statement", "import_from_statement"})
_CONTROL: Final = frozenset(
    {"if_statement", "for_statement", "for_in_statement", "while_statement", "enhanced_for_statement"}
)

_Finder = Callable[[Source], Iterator[Any]]


def find_swallowed(source: Source) -> Iterator[int]:
    """Yield the rows of handlers that ignore an error."""
    finder = _FINDERS.get(source.language or "")
    for node in finder(source) if finder else ():
        if not _gives_reason(source, node):
            yield node.start_point[0]


def _gives_reason(source: Source, node: Any) -> bool:
    """Return whether a comment inside, beside or directly above gives a reason."""
    first, last = node.start_point[0], node.end_point[0]
    text = " ".join(source.comment_rows.get(row, "") for row in range(first, last + 1))
    if source.lines[first - 1].lstrip().startswith(("#", "//", "/*", "*")):
        text += source.comment_rows.get(first - 1, "")
    return not _TO_DO.search(text) and bool(set(re.findall(r"[a-z]+", _DIRECTIVE.sub("", text).lower())) - _FILLER_WORDS)


def _python(source: Source) -> Iterator[Any]:
    for clause in source.hits({"python": "(except_clause) @hit"}):
        block = clause.named_children[-1]
        caught = next((each for each in clause.named_children if "comment" not in each.type), None)
        is_idle = block.type == "block" and all(_is_idle_python(each, clause.parent) for each in statements_of(block))
        if is_idle and _is_broad(caught) and not _has_alternative(source, clause.parent):
            yield clause
    for block in source.hits({"python": "(with_statement (with_clause (with_item (call) @c)) body: (block)) @hit"}):
        if re.match(r"with\s+(?:contextlib\.)?suppress\([^)]*\b(?:Base)?Exception\b", text_of(block)) and not _only_releases(
            block.child_by_field_name("body")
        ):
            yield block


def _is_idle_python(statement: Any, attempt: Any) -> bool:
    """Return whether a statement does nothing. `continue` and `return` do something if more code would have followed."""
    if statement.type == "continue_statement":
        return _next_statement(attempt) is None
    if statement.type == "return_statement":
        return not statement.named_children and not _has_code_after(attempt)
    return statement.type == "pass_statement" or text_of(statement) == "..."


def _is_broad(caught: Any) -> bool:
    if caught is None or caught.type == "block":
        return True
    value = caught.named_children[0] if caught.type == "as_pattern" else caught
    names = value.named_children if value.type == "tuple" else [value]
    return any(text_of(name) in _BROAD for name in names)


def _catch_clauses(source: Source) -> Iterator[Any]:
    """Find empty handlers in languages with `catch` blocks."""
    for clause in source.hits(dict.fromkeys(("javascript", "typescript", "tsx", "java", "cpp"), "(catch_clause) @hit")):
        body = clause.child_by_field_name("body")
        if body is None or statements_of(body) or _IGNORED_NAME.match(_caught_name(clause)):
            continue
        if not _has_alternative(source, clause.parent):
            yield clause


def _caught_name(clause: Any) -> str:
    named = clause.child_by_field_name("parameter")
    if named is None:
        named = next((each for each in clause.named_children if each.type == "catch_formal_parameter"), None)
        named = named.child_by_field_name("name") if named is not None else None
    return text_of(named) if named is not None else ""


def _has_alternative(source: Source, attempt: Any) -> bool:
    """Return whether a `try` handles a failure by what it attempts or by what follows it."""
    tried = attempt.child_by_field_name("body")
    if tried is None or any(each.type == "else_clause" for each in attempt.named_children):
        return True
    done = statements_of(tried)
    if not done or _only_releases(tried):
        return True
    if done[-1].type in ("raise_statement", "throw_statement") or _FAILS.match(text_of(done[-1])):
        return True
    leaves = _leaves(done[-1]) and (_has_code_after(attempt) or _is_named_as_attempt(attempt))
    return leaves or _only_sets(source, done, attempt)


_FAILS: Final = re.compile(r"(?:\w+\.)*(?:fail|ADD_FAILURE|FAIL|assert_?[nN]ot_?[rR]eached|unreachable)\(")
"""Last statement of an attempt in a test that expects the error."""

_TRIES: Final = frozenset({"try", "maybe", "safe", "safely"})


def _is_named_as_attempt(node: Any) -> bool:
    """Return whether the name of the enclosing function says that it may fail."""
    return bool(_words_of_function(node) & _TRIES)


def _enclosing_function(node: Any) -> Any:
    return next((each for each in ancestors(node) if "function" in each.type or "method" in each.type), None)


def _words_of_function(node: Any) -> set[str]:
    """Return the words in the name of the enclosing function."""
    function = _enclosing_function(node)
    return set() if function is None else _words(Function(function, None).name.rpartition(".")[2])


def _leaves(statement: Any) -> bool:
    kinds = ("return_statement", "break_statement", "continue_statement")
    return any(each.type in kinds for each in walk(statement)) and "function" not in statement.type


def _next_statement(node: Any) -> Any:
    found = node.next_named_sibling
    while found is not None and "comment" in found.type:
        found = found.next_named_sibling
    return found


def _has_code_after(node: Any) -> bool:
    """Return whether more code of the function follows a node, including the next iteration of a loop."""
    for each in (node, *ancestors(node)):
        if "function" in each.type or "method" in each.type:
            return False
        if each.type in _LOOPS:
            return True
        if _next_statement(each) is not None and each.parent.type.endswith(_BLOCK_TYPES):
            return True
    return False


def _only_releases(block: Any) -> bool:
    released = []
    for each in statements_of(block):
        if each.type not in _SIMPLE | _CONTROL:
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
    """Split a name into words, in any naming convention."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}


def _called(statement: Any) -> str:
    """Return the last part of the name of the function that a statement calls; empty if it calls none."""
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
"""A statement that sets a variable or adds to a collection."""


def _only_sets(source: Source, done: list[Any], attempt: Any) -> bool:
    """Return whether the attempt ends by setting a variable that exists before, so that a failure is visible; or whether it
    only sets variables or imports modules."""
    if all(_is_import(each) for each in done) or _is_set_before(source, done[-1], attempt):
        return True
    leaves = [each for statement in done for each in _inner(statement)]
    return all(_is_setting(each) or _is_import(each) for each in leaves) and _is_set_before(source, leaves[-1], attempt)


def _inner(statement: Any) -> list[Any]:
    """Return the statements inside a condition or loop, or the statement itself."""
    if statement.type not in _CONTROL:
        return [statement]
    kinds = ("statement", "declaration")
    return [each for each in walk(statement) if each.type.endswith(kinds) and each.type not in _CONTROL] or [statement]


def _is_import(statement: Any) -> bool:
    pattern = r"(?:(?:const|let|var)\s+[^=]+=\s*|return\s+|\(?[\w$]+ = )?(?:await\s+)?_*(?:require|import)\b"
    return "import" in statement.type or bool(re.match(pattern, text_of(statement)))


def _is_setting(statement: Any) -> bool:
    return bool(_SET.match(text_of(statement)))


def _is_set_before(source: Source, statement: Any, attempt: Any) -> bool:
    named = _SET.match(text_of(statement))
    if named is None:
        return False
    if statement.type == "variable_declaration":  # `var` of JavaScript is in scope in the whole function
        return True
    around = _enclosing_function(attempt) or source.root
    before = source.data[max(0, attempt.start_byte - _NEAR) : attempt.start_byte].decode(errors="replace")
    name = rf"(?<![\w$.]){re.escape(named[1])}(?![\w$])"
    start = max(around.start_byte, attempt.start_byte - _NEAR)
    here = source.data[start : attempt.start_byte].decode(errors="replace")
    return bool(re.search(name, here) or re.search(rf"(?m)^\s*(?:var|let|(?:\w+\s+)*static)\s[^;\n=]*{name}", before))


_DROPPED_REJECTION: Final = re.compile(
    r"\.catch\(\s*(?:function\s*\([^)]*\)|\(?[^()]*\)?\s*=>)\s*(?:\{\s*(?:/[/*][^}]*)?\}|undefined|null|void 0)\s*,?\s*\)$"
)
_DISCARDING: Final = frozenset(
    {"expression_statement", "await_expression", "unary_expression", "return_statement", "arrow_function"}
)
"""Parents of a call that discard the result of a promise."""


def _script(source: Source) -> Iterator[Any]:
    yield from _catch_clauses(source)
    query = '(call_expression function: (member_expression property: (property_identifier) @p) (#eq? @p "catch")) @hit'
    for call in source.hits(dict.fromkeys(("javascript", "typescript", "tsx"), query)):
        if _DROPPED_REJECTION.search(text_of(call)) and _is_dropped(call):
            yield call


def _is_dropped(call: Any) -> bool:
    """Return whether the result of a promise is discarded: it was just created, and is neither stored nor passed on."""
    made = call.child_by_field_name("function").child_by_field_name("object")
    if made.type != "call_expression" or _words(_name_called(made)) & _RELEASES:
        return False
    parent = call.parent
    while parent.type in ("await_expression", "unary_expression"):
        parent = parent.parent
    return parent.type in _DISCARDING


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
        "java": _catch_clauses,
        "cpp": _catch_clauses,
        "go": _go,
        "rust": _rust,
    }
)
