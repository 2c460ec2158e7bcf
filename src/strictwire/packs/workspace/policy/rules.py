"""The rules, in the order in which they are told. Each says something that is almost never meant to stay.

What honest code often has (a plain TODO, a method that subclasses fill in, an error that is passed over with a comment)
is not a finding: a policy that cries wolf is switched off.
"""

from __future__ import annotations

from typing import Final

from strictwire.packs.workspace.policy.placeholders import find_placeholders
from strictwire.packs.workspace.policy.rule import InChange, InCode, InComments, InText, InTree, Rule, Severity
from strictwire.packs.workspace.policy.rust import find_unfinished, find_unwrapped
from strictwire.packs.workspace.policy.secrets import find_secrets
from strictwire.packs.workspace.policy.silenced import find_silenced, find_skipped, find_unchecked
from strictwire.packs.workspace.policy.stubs import find_emptied, find_stubs
from strictwire.packs.workspace.policy.swallowed import find_swallowed


def _quoted(pattern: str) -> str:
    """A regular expression as a text of a query, which has escapes of its own."""
    return pattern.replace("\\", "\\\\")


RULES: Final[tuple[Rule, ...]] = (
    Rule(
        id="SECRET_IN_TEXT",
        purpose="Checks that no key or token of a known form is written.",
        fix="take the secret out, revoke it, and read it from the environment or a secret store",
        look=InText(find=find_secrets),
    ),
    Rule(
        id="PLACEHOLDER_COMMENT",
        purpose="Checks that no comment stands where code belongs.",
        fix="write the code that the comment stands for",
        look=InTree(find=find_placeholders),
    ),
    Rule(
        id="STUB_BODY",
        purpose="Checks that no function does nothing but say that it is not finished.",
        fix="write the body, or take the function out of the change",
        look=InTree(find=find_stubs),
    ),
    Rule(
        id="BODY_EMPTIED",
        purpose="Checks that no change takes a function's body away and leaves its name.",
        fix="keep the body, or take the function out with everything that calls it",
        look=InChange(find=find_emptied),
    ),
    Rule(
        id="SWALLOWED_ERROR",
        purpose="Checks that no error is caught and dropped without a word.",
        fix="handle the error, let it pass, or say in a comment why it does not matter",
        look=InTree(find=find_swallowed),
    ),
    Rule(
        id="CHECKS_SWITCHED_OFF",
        purpose="Checks that no comment switches every check of a file off.",
        fix="name the one check that does not fit, on the one line where it does not",
        look=InTree(find=find_unchecked),
    ),
    Rule(
        id="CHECK_SILENCED",
        purpose="Checks that no change silences every check of code that was checked before.",
        fix="mend what the check found, or name the one check that does not fit",
        look=InChange(find=find_silenced),
    ),
    Rule(
        id="TEST_SWITCHED_OFF",
        purpose="Checks that no change keeps a test from running that ran before.",
        fix="mend the test or the code it found wrong",
        look=InChange(find=find_skipped),
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
(annotation name: (identifier) @n arguments: (annotation_argument_list) @m
  (#eq? @n "SuppressWarnings") (#match? @m "\\"all\\"")) @hit
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
(expression_statement (call function: (attribute object: (identifier) @o attribute: (identifier) @a)
  (#any-of? @o "pdb" "ipdb" "pudb") (#eq? @a "set_trace"))) @hit
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
        look=InTree(find=find_unfinished),
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
([(inner_attribute_item) (attribute_item)] @hit
  (#match? @hit "{_quoted(r"^#!?.(cfg_attr.*)?allow.[^)]*(warnings|clippy::all|unused[,)])")}"))
"""
            }
        ),
        code="RUST_POLICY_VIOLATION",
    ),
    Rule(
        id="RUST_UNWRAP_INPUT",
        purpose="Checks that nothing from outside (files, environment, network, text) is unwrapped, besides in tests.",
        fix="return the error: what comes from outside can be wrong",
        look=InTree(find=find_unwrapped),
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
