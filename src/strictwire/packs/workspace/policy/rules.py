"""The rules, in the order in which they are reported. Each finds something that is almost never intended to stay.

What correct code often contains (a plain TODO, a method that subclasses implement, an ignored error with a comment) is not a
finding: users switch off a policy that reports too much.
"""

from __future__ import annotations

from typing import Final

from strictwire.packs.workspace.policy.placeholders import find_placeholders
from strictwire.packs.workspace.policy.rule import InChange, InCode, InComments, InText, InTree, PolicyRule, Severity
from strictwire.packs.workspace.policy.rust import find_unfinished, find_unwrapped
from strictwire.packs.workspace.policy.secrets import find_secrets
from strictwire.packs.workspace.policy.silenced import find_silenced, find_skipped, find_unchecked
from strictwire.packs.workspace.policy.stubs import find_emptied, find_stubs
from strictwire.packs.workspace.policy.swallowed import find_swallowed


def _quoted(pattern: str) -> str:
    """Escape a regular expression for a string in a tree-sitter query."""
    return pattern.replace("\\", "\\\\")


RULES: Final[tuple[PolicyRule, ...]] = (
    PolicyRule(
        id="SECRET_IN_TEXT",
        purpose="Checks that no key or token of a known form is written.",
        fix="remove the secret, revoke it, and read it from the environment or a secret store",
        detector=InText(find=find_secrets),
    ),
    PolicyRule(
        id="PLACEHOLDER_COMMENT",
        purpose="Checks that no comment takes the place of missing code.",
        fix="write the code that the comment stands for",
        detector=InTree(find=find_placeholders),
    ),
    PolicyRule(
        id="STUB_BODY",
        purpose="Checks that no function body is only a stub.",
        fix="write the body, or remove the function from the change",
        detector=InTree(find=find_stubs),
    ),
    PolicyRule(
        id="BODY_EMPTIED",
        purpose="Checks that no change removes the body of a function and keeps its name.",
        fix="keep the body, or remove the function and all its callers",
        detector=InChange(find=find_emptied),
    ),
    PolicyRule(
        id="SWALLOWED_ERROR",
        purpose="Checks that no error is caught and silently ignored.",
        fix="handle the error, let it propagate, or give the reason in a comment",
        detector=InTree(find=find_swallowed),
    ),
    PolicyRule(
        id="CHECKS_SWITCHED_OFF",
        purpose="Checks that no comment disables all checks of a file.",
        fix="disable only the check that does not apply, on the line where it does not apply",
        detector=InTree(find=find_unchecked),
    ),
    PolicyRule(
        id="CHECK_SILENCED",
        purpose="Checks that no change silences all checks of code that was checked before.",
        fix="fix what the check found, or silence only the check that does not apply",
        detector=InChange(find=find_silenced),
    ),
    PolicyRule(
        id="TEST_SWITCHED_OFF",
        purpose="Checks that no change disables a test that ran before.",
        fix="fix the test, or the code that it tests",
        detector=InChange(find=find_skipped),
    ),
    PolicyRule(
        id="TYPES_UNCHECKED",
        purpose="Checks that no comment excludes a whole file from type checking.",
        fix="fix the types, or ignore one error on the line where it occurs",
        detector=InComments(patterns={"python": r"^#\s*mypy:\s*ignore-errors"}),
        severity=Severity.OFF,
    ),
    PolicyRule(
        id="WARNINGS_SUPPRESSED",
        purpose="Checks that no annotation suppresses all warnings.",
        fix="suppress only the warning that does not apply",
        detector=InCode(
            queries={
                "java": """
(annotation name: (identifier) @n arguments: (annotation_argument_list) @m
  (#eq? @n "SuppressWarnings") (#match? @m "\\"all\\"")) @hit
"""
            }
        ),
    ),
    PolicyRule(
        id="DEBUGGER_LEFT",
        purpose="Checks that no debugger call is left.",
        fix="remove the debugger call",
        detector=InCode(
            queries={
                "python": """
(expression_statement (call function: (identifier) @f) (#eq? @f "breakpoint")) @hit
(expression_statement (call function: (attribute object: (identifier) @o attribute: (identifier) @a)
  (#any-of? @o "pdb" "ipdb" "pudb") (#eq? @a "set_trace"))) @hit
""",
                "javascript": "(debugger_statement) @hit",
                "typescript": "(debugger_statement) @hit",
                "tsx": "(debugger_statement) @hit",
            }
        ),
    ),
    PolicyRule(
        id="RUST_UNFINISHED",
        purpose="Checks that no Rust macro takes the place of missing code.",
        fix="write the code that the macro stands for",
        detector=InTree(find=find_unfinished),
        code="RUST_POLICY_VIOLATION",
    ),
    PolicyRule(
        id="RUST_STATIC_MUT",
        purpose="Checks that no mutable static is declared.",
        fix="use an atomic, a Mutex or a OnceLock",
        detector=InCode(queries={"rust": "(static_item (mutable_specifier)) @hit"}),
        code="RUST_POLICY_VIOLATION",
    ),
    PolicyRule(
        id="RUST_LINTS_OFF",
        purpose="Checks that no attribute disables all lints.",
        fix="allow only the lint that does not apply",
        detector=InCode(
            queries={
                "rust": f"""
([(inner_attribute_item) (attribute_item)] @hit
  (#match? @hit "{_quoted(r"^#!?.(cfg_attr.*)?allow.[^)]*(warnings|clippy::all|unused[,)])")}"))
"""
            }
        ),
        code="RUST_POLICY_VIOLATION",
    ),
    PolicyRule(
        id="RUST_UNWRAP_INPUT",
        purpose="Checks that no external input (files, environment, network, text) is unwrapped, except in tests.",
        fix="return the error: external input can be invalid",
        detector=InTree(find=find_unwrapped),
        code="RUST_POLICY_VIOLATION",
    ),
    PolicyRule(
        id="RUST_UNWRAP",
        purpose="Checks that no value is unwrapped without a reason.",
        fix="return the error, or use expect with the reason why it cannot fail",
        detector=InCode(
            queries={
                "rust": """
(call_expression function: (field_expression field: (field_identifier) @f) (#eq? @f "unwrap")) @hit
"""
            }
        ),
        severity=Severity.OFF,
        code="RUST_POLICY_VIOLATION",
    ),
    PolicyRule(
        id="TODO_COMMENT",
        purpose="Checks that no comment marks unfinished work.",
        fix="finish it, or record it in the issue tracker",
        detector=InComments(patterns={"*": r"\b(?:TODO|FIXME|XXX|HACK)\b"}),
        severity=Severity.OFF,
    ),
)
"""All rules. Rules that correct code often breaks are off unless a workspace turns them on."""
