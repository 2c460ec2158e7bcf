"""Tree-sitter queries that find declarations, one table for all grammars. Pure data. Kinds are LSP's SymbolKind."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

MODULE, NAMESPACE, CLASS, METHOD, PROPERTY, FIELD, CONSTRUCTOR = 2, 3, 5, 6, 7, 8, 9
ENUM, INTERFACE, FUNCTION, VARIABLE, CONSTANT, OBJECT, ENUM_MEMBER, STRUCT, TYPE = 10, 11, 12, 13, 14, 19, 22, 23, 26

OWNERS: Final = frozenset({CLASS, INTERFACE, STRUCT, ENUM, OBJECT})
"""A function inside one of these is a method."""

_SCRIPT: Final = (
    (CLASS, "(class_declaration name: (_) @name) @all"),
    (FUNCTION, "(function_declaration name: (_) @name) @all"),
    (FUNCTION, "(generator_function_declaration name: (_) @name) @all"),
    (METHOD, "(method_definition name: (_) @name) @all"),
    (FUNCTION, "(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression)]) @all"),
    (VARIABLE, "(program (lexical_declaration (variable_declarator name: (identifier) @name) @all))"),
    (VARIABLE, "(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @all)))"),
)

_TYPED_SCRIPT: Final = (
    *_SCRIPT,
    (CLASS, "(abstract_class_declaration name: (_) @name) @all"),
    (INTERFACE, "(interface_declaration name: (_) @name) @all"),
    (TYPE, "(type_alias_declaration name: (_) @name) @all"),
    (ENUM, "(enum_declaration name: (_) @name) @all"),
    (NAMESPACE, "(internal_module name: (_) @name) @all"),
    (PROPERTY, "(public_field_definition name: (_) @name) @all"),
)

_C: Final = (
    (FUNCTION, "(function_definition declarator: (function_declarator declarator: (_) @name)) @all"),
    (FUNCTION, "(function_definition declarator: (_ declarator: (function_declarator declarator: (_) @name))) @all"),
    (STRUCT, "(struct_specifier name: (_) @name body: (_)) @all"),
    (STRUCT, "(union_specifier name: (_) @name body: (_)) @all"),
    (ENUM, "(enum_specifier name: (_) @name body: (_)) @all"),
    (TYPE, "(type_definition declarator: (type_identifier) @name) @all"),
    (CONSTANT, "(preproc_def name: (_) @name) @all"),
    (FUNCTION, "(preproc_function_def name: (_) @name) @all"),
)

DEFINITIONS: Final[Mapping[str, tuple[tuple[int, str], ...]]] = MappingProxyType(
    {
        "python": (
            (CLASS, "(class_definition name: (_) @name) @all"),
            (FUNCTION, "(function_definition name: (_) @name) @all"),
            (VARIABLE, "(module (expression_statement (assignment left: (identifier) @name) @all))"),
        ),
        "javascript": _SCRIPT,
        "typescript": _TYPED_SCRIPT,
        "tsx": _TYPED_SCRIPT,
        "go": (
            (FUNCTION, "(function_declaration name: (_) @name) @all"),
            (METHOD, "(method_declaration name: (_) @name) @all"),
            (STRUCT, "(type_spec name: (_) @name type: (struct_type)) @all"),
            (INTERFACE, "(type_spec name: (_) @name type: (interface_type)) @all"),
            (TYPE, "[(type_spec name: (_) @name) (type_alias name: (_) @name)] @all"),
            (CONSTANT, "(source_file (const_declaration (const_spec name: (identifier) @name) @all))"),
            (VARIABLE, "(source_file (var_declaration (var_spec name: (identifier) @name) @all))"),
        ),
        "rust": (
            (FUNCTION, "(function_item name: (_) @name) @all"),
            (FUNCTION, "(function_signature_item name: (_) @name) @all"),
            (STRUCT, "(struct_item name: (_) @name) @all"),
            (STRUCT, "(union_item name: (_) @name) @all"),
            (ENUM, "(enum_item name: (_) @name) @all"),
            (ENUM_MEMBER, "(enum_variant name: (_) @name) @all"),
            (INTERFACE, "(trait_item name: (_) @name) @all"),
            (OBJECT, "(impl_item type: (_) @name) @all"),
            (MODULE, "(mod_item name: (_) @name) @all"),
            (TYPE, "(type_item name: (_) @name) @all"),
            (CONSTANT, "(const_item name: (_) @name) @all"),
            (VARIABLE, "(static_item name: (_) @name) @all"),
            (FUNCTION, "(macro_definition name: (_) @name) @all"),
        ),
        "java": (
            (CLASS, "(class_declaration name: (_) @name) @all"),
            (CLASS, "(record_declaration name: (_) @name) @all"),
            (INTERFACE, "(interface_declaration name: (_) @name) @all"),
            (ENUM, "(enum_declaration name: (_) @name) @all"),
            (ENUM_MEMBER, "(enum_constant name: (_) @name) @all"),
            (METHOD, "(method_declaration name: (_) @name) @all"),
            (CONSTRUCTOR, "(constructor_declaration name: (_) @name) @all"),
            (FIELD, "(field_declaration declarator: (variable_declarator name: (_) @name)) @all"),
        ),
        "c": _C,
        "cpp": (
            *_C,
            (CLASS, "(class_specifier name: (_) @name body: (_)) @all"),
            (NAMESPACE, "(namespace_definition name: (_) @name) @all"),
            (TYPE, "(alias_declaration name: (_) @name) @all"),
        ),
    }
)
"""Grammar to the kinds of symbols it declares, each with the query that finds them. Of two that match, the first counts."""
