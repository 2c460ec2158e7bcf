"""Rulesets: the rules of each category, by version. A published ruleset never changes.

Upgrading strictwire therefore never changes the result of a check that names its ruleset: a new or better rule joins the
next ruleset. A test compares the digest of each published ruleset with a constant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from strictwire.canon.digest import digest
from strictwire.check.finding import Impact
from strictwire.check.rule import Category, Semantics

CUMULATIVE: Final = (Category.MINIMAL, Category.BASIC, Category.STANDARD, Category.STRICT)
"""The categories that include each other, smallest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruleset:
    """The rule ids of each lint category, without those of the categories it includes, and of the breaking check."""

    version: str
    lint: Mapping[Category, tuple[str, ...]]
    breaking: tuple[str, ...]
    semantics: Semantics = Semantics.DECLARED
    """The question that `breaking` answers unless the policy says otherwise."""
    fail_on: Impact = Impact.READER
    """The least grave tier that makes `breaking` fail unless the policy says otherwise."""
    default: Category = Category.STANDARD
    """The category of a policy that names none."""
    has_tiers: bool = True
    """Whether findings of one rule may have different tiers. In 2026.11 every rule has one."""

    def rules_up_to(self, category: Category) -> tuple[str, ...]:
        """The rules of a category and of the categories it includes."""
        chosen = CUMULATIVE[: CUMULATIVE.index(category) + 1] if category in CUMULATIVE else (category,)
        return tuple(rule for each in chosen for rule in self.lint[each])

    def digest(self) -> str:
        """Digest of the version and all members; a test pins it for each published ruleset."""
        members = {category.value: list(rules) for category, rules in self.lint.items()}
        value = {"version": self.version, "lint": members, "breaking": list(self.breaking)}
        if self.has_tiers:
            value |= {"default": self.default.value, "semantics": self.semantics.value, "failOn": self.fail_on.value}
        return digest(value)


_2026_11: Final = Ruleset(
    version="2026.11",
    lint=MappingProxyType(
        {
            Category.MINIMAL: (
                "FILE_STRICT_JSON",
                "ENTRY_WELL_FORMED",
                "SCHEMA_VALID",
                "REF_NOT_REMOTE",
                "ROOT_TYPE_OBJECT",
                "NAME_GRAMMAR",
                "NAME_UNIQUE",
                "DESCRIPTION_PRESENT",
                "REF_BUNDLED",
            ),
            Category.BASIC: (
                "REQUIRED_DECLARED",
                "PATTERN_SAFE",
                "SCHEMA_SATISFIABLE",
                "EXAMPLES_VALID",
                "NAME_LENGTH",
                "TEXT_VISIBLE",
                "TEXT_NO_INSTRUCTIONS",
                "TEXT_NO_SECRETS",
                "HINTS_AGREE_WITH_NAME",
                "HINTS_CONSISTENT",
            ),
            Category.STANDARD: (
                "DESCRIPTION_NOT_THE_NAME",
                "DESCRIPTION_LENGTH",
                "DEFS_USED",
                "KEYWORDS_KNOWN",
                "CLIENT_ROOT_COMPOSITION",
                "CLIENT_ROOT_REF",
                "CLIENT_PROPERTIES",
                "CLIENT_PROPERTY_KEYS",
                "CLIENT_ARRAY_ITEMS",
                "CLIENT_BOOLEAN_SCHEMA",
                "OUTPUT_TYPE_OBJECT",
            ),
            Category.STRICT: (
                "NAME_NOT_RESERVED",
                "TEXT_SHORT",
                "TEXT_HARMLESS",
                "HINTS_AGREE_WITH_SAFETY",
                "REF_DEFS_ONLY",
                "CLIENT_NAME",
                "CLIENT_ENUM_STRINGS",
                "CLIENT_DIALECT",
                "SCHEMA_DIALECT",
                "FILE_LAYOUT",
                "ROOT_CLOSED",
                "OBJECTS_CLOSED",
                "REQUIRED_EXPLICIT",
                "NO_DEFAULT",
                "NO_COERCION",
                "STRINGS_BOUNDED",
                "ARRAYS_BOUNDED",
                "CAPS_COHERENT",
                "LOCATION_BY_URI",
                "URI_IS_FILE",
                "POSITION_SHAPE",
                "PAGING_TOGETHER",
                "PAGE_SIZE_CAPPED",
                "QUERY_BOUNDED",
                "OUTPUT_ARRAYS_OF_OBJECTS",
                "OUTPUT_NO_FREE_MAPS",
                "SUMMARY_SHORT",
                "CHANGE_IN_CONTRACT",
                "CHANGE_TESTED",
            ),
            Category.CODE: (
                "CODE_NAME",
                "CODE_SCHEMA_ID",
                "CODE_TITLE",
                "CODE_OPTIONAL_MEMBERS",
                "CODE_PAGED_OUTPUT",
                "CODE_ID_DIGEST",
                "CODE_INPUT_INLINED",
                "CODE_DEFS_ALIKE",
                "CODE_LISTING",
                "CODE_READ_ONLY",
            ),
        }
    ),
    breaking=(
        "TOOL_KEPT",
        "TOOL_ADDED",
        "OUTPUT_SCHEMA_KEPT",
        "DESCRIPTION_KEPT",
        "TITLE_KEPT",
        "SCHEMA_TEXTS_KEPT",
        "HINTS_KEPT",
        "ANNOTATIONS_KEPT",
        "TERMS_KEPT",
        "ACCESS_KEPT",
        "CAPS_KEPT",
        "INPUT_TYPE_KEPT",
        "INPUT_VALUES_KEPT",
        "INPUT_BOUNDS_KEPT",
        "INPUT_OPTIONAL_KEPT",
        "INPUT_MEMBERS_KEPT",
        "INPUT_PATTERNS_KEPT",
        "INPUT_ACCEPTS_AS_BEFORE",
        "INPUT_DECIDED",
        "OUTPUT_TYPE_KEPT",
        "OUTPUT_VALUES_KEPT",
        "OUTPUT_BOUNDS_KEPT",
        "OUTPUT_REQUIRED_KEPT",
        "OUTPUT_MEMBERS_KEPT",
        "OUTPUT_PATTERNS_KEPT",
        "OUTPUT_GIVES_AS_BEFORE",
        "OUTPUT_DECIDED",
        "INPUT_COMPATIBLE",
        "OUTPUT_COMPATIBLE",
    ),
    semantics=Semantics.EXACT,
    fail_on=Impact.MODEL,
    has_tiers=False,
)

_CLIENT_RULES: Final = (
    "CLIENT_OUTPUT_DIALECT",
    "CLIENT_ROOT_COMPOSITION",
    "CLIENT_ROOT_REF",
    "CLIENT_PROPERTIES",
    "CLIENT_PROPERTY_KEYS",
    "CLIENT_ARRAY_ITEMS",
    "CLIENT_BOOLEAN_SCHEMA",
    "OUTPUT_TYPE_OBJECT",
    "NAME_LENGTH",
    "DESCRIPTION_LENGTH",
)

_TEXT_RULES: Final = ("TEXT_VISIBLE", "TEXT_NO_INSTRUCTIONS", "TEXT_NO_SECRETS")

_NOT_CERTAIN: Final = frozenset({*_TEXT_RULES, "PATTERN_SAFE", "DESCRIPTION_NOT_THE_NAME", "DEFS_USED"})
"""Rules of 2026.11's STANDARD that belong to another purpose, or that were wrong on public servers (PATTERN_SAFE)."""

_2026_12: Final = Ruleset(
    version="2026.12",
    lint=MappingProxyType(
        {
            **_2026_11.lint,
            Category.CORRECT: (
                "CLIENT_OUTPUT_DIALECT",
                "CLIENT_NAME",
                *(name for name in _2026_11.rules_up_to(Category.STANDARD) if name not in _NOT_CERTAIN),
            ),
            Category.CLIENTS: (*_CLIENT_RULES, "CLIENT_NAME", "CLIENT_ENUM_STRINGS"),
            Category.AGENTS: (
                "ARGUMENTS_DESCRIBED",
                "TOOL_TOKENS",
                "LISTING_TOKENS",
                "NAMES_DISTINCT",
                "TOOLS_DISTINCT",
                "TOOLS_OVERLAP",
                "NESTED_ARGUMENTS_DESCRIBED",
                "COUNTS_ARE_INTEGERS",
                "RANGE_IN_SCHEMA",
                "DESCRIPTION_PRESENT",
                "DESCRIPTION_NOT_THE_NAME",
                "DEFS_USED",
            ),
            Category.SECURITY: (
                *_TEXT_RULES,
                "STRINGS_NOT_DIRECTIVES",
                "STRINGS_VISIBLE",
                "ARGUMENTS_NOT_SIDE_CHANNELS",
                "TITLE_NOT_SPOOFED",
                "HINTS_AGREE_WITH_NAME",
                "HINTS_CONSISTENT",
            ),
            Category.SEED: _2026_11.lint[Category.STRICT],
        }
    ),
    default=Category.CORRECT,
    breaking=(
        "TOOL_KEPT",
        "TOOL_NAME_KEPT",
        "TOOL_ADDED",
        "OUTPUT_SCHEMA_KEPT",
        "DESCRIPTION_KEPT",
        "TITLE_KEPT",
        "SCHEMA_TEXTS_KEPT",
        "HINTS_KEPT",
        "ANNOTATIONS_KEPT",
        "TERMS_KEPT",
        "ACCESS_KEPT",
        "CAPS_KEPT",
        "ARGUMENT_KEPT",
        "ARGUMENT_NAME_KEPT",
        "RESULT_KEPT",
        "RESULT_NAME_KEPT",
        "DEFAULT_KEPT",
        "INPUT_TYPE_KEPT",
        "INPUT_VALUES_KEPT",
        "INPUT_BOUNDS_KEPT",
        "INPUT_OPTIONAL_KEPT",
        "INPUT_OPEN_KEPT",
        "INPUT_PATTERNS_KEPT",
        "INPUT_ACCEPTS_AS_BEFORE",
        "INPUT_DECIDED",
        "OUTPUT_TYPE_KEPT",
        "OUTPUT_VALUES_KEPT",
        "OUTPUT_BOUNDS_KEPT",
        "OUTPUT_REQUIRED_KEPT",
        "OUTPUT_MEMBERS_KEPT",
        "OUTPUT_PATTERNS_KEPT",
        "OUTPUT_GIVES_AS_BEFORE",
        "OUTPUT_DECIDED",
        "INPUT_COMPATIBLE",
        "OUTPUT_COMPATIBLE",
    ),
)

RULESETS: Final[Mapping[str, Ruleset]] = MappingProxyType({each.version: each for each in (_2026_11, _2026_12)})
"""Every published ruleset by version."""

LATEST: Final = _2026_12.version
"""The ruleset of a policy that names none."""
