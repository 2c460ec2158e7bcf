"""The rules, in the order in which they are told. Each says something that is almost never meant to stay.

What honest code often has (a plain TODO, a method that subclasses fill in, an error that is passed over with a comment)
is not a finding: a policy that cries wolf is switched off.
"""

from __future__ import annotations

from typing import Final

from strictwire.packs.workspace.policy.rule import InCode, InComments, InText, Rule, Severity


def _quoted(pattern: str) -> str:
    """A regular expression as a text of a query, which has escapes of its own."""
    return pattern.replace("\\", "\\\\")


_UNFINISHED: Final = _quoted(r"(?i)not (yet )?implemented|unimplemented|implement me|\btodo\b")
"""What an error says that only marks a hole."""

_PROMISED: Final = _quoted(r"(?i)not (yet )?implemented yet|not yet implemented|implement me|\btodo\b")
"""The same in Python, where `not implemented` alone is how abstract methods are written."""

_EMPTY: Final = _quoted(r"^\{\s*\}$")

_JS_STUB: Final = f"""
(throw_statement (new_expression arguments: (arguments (string) @m)) (#match? @m "{_UNFINISHED}")) @hit
"""

_JS_SWALLOW: Final = f'(catch_clause body: (statement_block) @b (#match? @b "{_EMPTY}")) @hit'

_PYTHON_STUB: Final = f"""
(raise_statement (call arguments: (argument_list (string) @m)) (#match? @m "{_PROMISED}")) @hit
(module (function_definition body: (block . (expression_statement (string))? . (raise_statement [
  (identifier) @e
  (call function: (identifier) @e)
]) .)) @hit (#eq? @e "NotImplementedError"))
"""
"""Functions of a module alone: a method that raises NotImplementedError is for subclasses to fill in."""

_SECRETS: Final = r"""(?x)
    -----BEGIN\ (?:RSA\ |EC\ |OPENSSH\ |DSA\ |PGP\ )?PRIVATE\ KEY(?:\ BLOCK)?-----\s*(?:\\n|\n)\s*[A-Za-z0-9+/]{16}
  | \b(?:AKIA|ASIA)[0-9A-Z]{16}\b
  | \bgh[pousr]_[A-Za-z0-9]{36}\b
  | \bgithub_pat_[A-Za-z0-9_]{60,}\b
  | \bglpat-[A-Za-z0-9_-]{20}\b
  | \bxox[abprs]-[0-9]{8,}-[A-Za-z0-9-]{16,}\b
  | \bsk_live_[A-Za-z0-9]{20,}\b
  | \bAIza[A-Za-z0-9_-]{35}\b
  | \bnpm_[A-Za-z0-9]{36}\b
"""

_PLACEHOLDER: Final = r"""(?xi)
    \b(?:todo|fixme)\b(?:\([^)\n]{0,40}\))?[\s:-]{0,4}(?:implement|write|fill\ in)\b
      [^\n]{0,30}\b(?:this|here|logic|body|code|function|method|implementation|me)\b
  | \bimplement\ me\b
  | \b(?:your|add|insert|put)\ (?:your\ )?(?:code|implementation|logic)\ (?:goes\ )?here\b
  | (?:\.\.\.|…)\s*(?:the\ )?(?:rest|remaining|existing|other|previous|unchanged)\ (?:of\ )?(?:the\ |your\ )?
      (?:code|file|implementation|function|method|class|import|logic)
  | \b(?:rest|remainder)\ of\ (?:the\ )?(?:code|file|implementation|function|class|method)s?
      \ (?:goes\ here|stays|remains|is\ unchanged|unchanged|here|omitted|as\ before)
  | \b(?:code|implementation|body)\ omitted\b | \bomitted\ for\ brevity\b
  | \bplaceholder\ implementation\b | \bstub\ implementation\b
  | \bfor\ now,?\ (?:we\ )?(?:just\ )?return\ (?:a\ |some\ )?(?:dummy|fake|placeholder|mock|hard-?coded)
"""

_CHECKS_OFF: Final = {
    "python": r"(?i)^#\s*(?:pylint:\s*disable\s*=\s*all\b|pylint:\s*skip-file|flake8[:=]\s*noqa\s*$|ruff:\s*noqa\s*$)",
    "javascript": r"@ts-nocheck|^/\*\s*eslint-disable\s*\*/$",
    "typescript": r"@ts-nocheck|^/\*\s*eslint-disable\s*\*/$",
    "tsx": r"@ts-nocheck|^/\*\s*eslint-disable\s*\*/$",
    "go": r"^//\s*nolint(?::all)?\s*$",
    "cpp": r"NOLINTBEGIN\s*$|NOLINTBEGIN\(\*\)",
    "c": r"NOLINTBEGIN\s*$|NOLINTBEGIN\(\*\)",
}

RULES: Final[tuple[Rule, ...]] = (
    Rule(
        id="SECRET_IN_TEXT",
        purpose="Checks that no key or token of a known form is written.",
        fix="take the secret out, revoke it, and read it from the environment or a secret store",
        look=InText(pattern=_SECRETS, unless=r"(?i)EXAMPLE|XXXX|0{8}|1234567890"),
    ),
    Rule(
        id="PLACEHOLDER_COMMENT",
        purpose="Checks that no comment stands where code belongs.",
        fix="write the code that the comment stands for",
        look=InComments(patterns={"*": _PLACEHOLDER}),
    ),
    Rule(
        id="STUB_BODY",
        purpose="Checks that no function does nothing but say that it is not finished.",
        fix="write the body, or take the function out of the change",
        look=InCode(
            queries={
                "python": _PYTHON_STUB,
                "javascript": _JS_STUB,
                "typescript": _JS_STUB,
                "tsx": _JS_STUB,
                "go": f"""
(call_expression function: (identifier) @f arguments: (argument_list (interpreted_string_literal) @m)
  (#eq? @f "panic") (#match? @m "{_UNFINISHED}")) @hit
""",
                "java": f"""
(throw_statement (object_creation_expression arguments: (argument_list (string_literal) @m))
  (#match? @m "{_UNFINISHED}")) @hit
""",
                "c": f"""
(call_expression arguments: (argument_list (binary_expression (string_literal) @m)) (#match? @m "{_UNFINISHED}")) @hit
""",
                "cpp": f"""
(call_expression arguments: (argument_list (binary_expression (string_literal) @m)) (#match? @m "{_UNFINISHED}")) @hit
(throw_statement (call_expression arguments: (argument_list (string_literal) @m)) (#match? @m "{_UNFINISHED}")) @hit
""",
            }
        ),
    ),
    Rule(
        id="SWALLOWED_ERROR",
        purpose="Checks that no error is caught and dropped without a word.",
        fix="handle the error, let it pass, or say in a comment why it does not matter",
        look=InCode(
            queries={
                "python": """
(except_clause . (block . (pass_statement) .)) @hit
(except_clause . (identifier) @e . (block . (pass_statement) .) (#eq? @e "BaseException")) @hit
""",
                "javascript": _JS_SWALLOW,
                "typescript": _JS_SWALLOW,
                "tsx": _JS_SWALLOW,
                "java": f'(catch_clause body: (block) @b (#match? @b "{_EMPTY}")) @hit',
                "cpp": f'(catch_clause body: (compound_statement) @b (#match? @b "{_EMPTY}")) @hit',
                "go": f"""
(if_statement condition: (binary_expression left: (identifier) @e) consequence: (block) @b
  (#eq? @e "err") (#match? @b "{_EMPTY}")) @hit
""",
            }
        ),
    ),
    Rule(
        id="CHECKS_SWITCHED_OFF",
        purpose="Checks that no comment switches every check of a file off.",
        fix="name the one check that does not fit, on the one line where it does not",
        look=InComments(patterns=_CHECKS_OFF),
    ),
    Rule(
        id="TYPES_UNCHECKED",
        purpose="Checks that no comment takes a whole file out of type checking.",
        fix="mend the types, or name the one error on the one line where it does not fit",
        look=InComments(patterns={"python": r"^#\s*mypy:\s*ignore-errors"}),
        severity=Severity.OFF,
    ),
    Rule(
        id="WARNINGS_SUPPRESSED",
        purpose="Checks that no annotation switches all warnings off.",
        fix="name the one warning that does not fit",
        look=InCode(
            queries={
                "java": """
(annotation name: (identifier) @n arguments: (annotation_argument_list (string_literal) @m)
  (#eq? @n "SuppressWarnings") (#eq? @m "\\"all\\"")) @hit
"""
            }
        ),
    ),
    Rule(
        id="DEBUGGER_LEFT",
        purpose="Checks that no call of a debugger is left.",
        fix="take the call of the debugger out",
        look=InCode(
            queries={
                "python": """
(expression_statement (call function: (identifier) @f) (#eq? @f "breakpoint")) @hit
(call function: (attribute object: (identifier) @o attribute: (identifier) @a)
  (#any-of? @o "pdb" "ipdb" "pudb") (#eq? @a "set_trace")) @hit
""",
                "javascript": "(debugger_statement) @hit",
                "typescript": "(debugger_statement) @hit",
                "tsx": "(debugger_statement) @hit",
            }
        ),
    ),
    Rule(
        id="RUST_UNFINISHED",
        purpose="Checks that no Rust macro stands for code that is not there.",
        fix="write the code that the macro stands for",
        look=InCode(
            queries={"rust": '(macro_invocation macro: (identifier) @m (#any-of? @m "todo" "unimplemented" "dbg")) @hit'}
        ),
        code="RUST_POLICY_VIOLATION",
    ),
    Rule(
        id="RUST_STATIC_MUT",
        purpose="Checks that no mutable static is made.",
        fix="use an atomic, a Mutex or a OnceLock",
        look=InCode(queries={"rust": "(static_item (mutable_specifier)) @hit"}),
        code="RUST_POLICY_VIOLATION",
    ),
    Rule(
        id="RUST_LINTS_OFF",
        purpose="Checks that no attribute switches all lints off.",
        fix="name the one lint that does not fit",
        look=InCode(
            queries={
                "rust": f"""
((inner_attribute_item) @hit (#match? @hit "{_quoted(r"allow.[^)]*(warnings|clippy::all|unused[,)])")}"))
"""
            }
        ),
        code="RUST_POLICY_VIOLATION",
    ),
    Rule(
        id="RUST_UNWRAP",
        purpose="Checks that no value is unwrapped without a reason.",
        fix="return the error, or use expect with the reason why it cannot happen",
        look=InCode(
            queries={
                "rust": """
(call_expression function: (field_expression field: (field_identifier) @f) (#eq? @f "unwrap")) @hit
"""
            }
        ),
        severity=Severity.OFF,
        code="RUST_POLICY_VIOLATION",
    ),
    Rule(
        id="TODO_COMMENT",
        purpose="Checks that no comment says that something is still to be done.",
        fix="do it, or write it down where work is planned",
        look=InComments(patterns={"*": r"\b(?:TODO|FIXME|XXX|HACK)\b"}),
        severity=Severity.OFF,
    ),
)
"""All rules. Those that honest code often breaks are off unless a workspace asks for them."""
