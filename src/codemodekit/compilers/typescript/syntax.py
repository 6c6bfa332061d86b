"""What in a tree concerns us, found in one query, in the order of the text.

The query runs in C and is not recursive, so neither depth nor size of a tree matters here; only the nodes it names
come to Python. Each capture's name says what is to be done with the node.
"""

from __future__ import annotations

from typing import Final

from tree_sitter import Node, Query, QueryCursor

from codemodekit.compilers.typescript.parsing import LANGUAGE, ParsedProgram

__all__ = ["Capture", "captures", "is_type_only"]

Capture = tuple[int, int, str, Node]
"""Start, end, the capture's name and the node."""

_QUERY: Final = Query(
    LANGUAGE,
    """
    [(type_annotation) (type_predicate_annotation) (asserts_annotation) (type_parameters) (type_arguments)
     (implements_clause)] @type
    (abstract_class_declaration "abstract" @modifier)
    (optional_parameter "?" @modifier)
    (method_definition "?" @modifier)
    (public_field_definition ["?" "!"] @modifier)
    (variable_declarator "!" @modifier)
    (public_field_definition . [(accessibility_modifier) (override_modifier) "readonly"] @first_modifier)
    (method_definition . [(accessibility_modifier) (override_modifier) "readonly"] @first_modifier)
    (public_field_definition [(accessibility_modifier) (override_modifier) "readonly"] @modifier)
    (method_definition [(accessibility_modifier) (override_modifier) "readonly"] @modifier)
    (required_parameter [(accessibility_modifier) (override_modifier) "readonly"] @parameter_property)
    (optional_parameter [(accessibility_modifier) (override_modifier) "readonly"] @parameter_property)
    (formal_parameters (required_parameter pattern: (this)) @this_parameter)
    (arrow_function return_type: (_)) @arrow_return
    (arrow_function type_parameters: (_)) @arrow_parameters
    [(as_expression) (satisfies_expression)] @conversion
    (non_null_expression) @non_null
    (type_assertion) @assertion
    (public_field_definition name: (property_identifier) @field_name type: (_) !value)

    [(interface_declaration) (type_alias_declaration) (ambient_declaration) (function_signature)] @statement
    (class_body [(method_signature) (abstract_method_signature) (index_signature)] @statement)
    (public_field_definition ["declare" "abstract"]) @statement
    (hash_bang_line) @modifier
    (import_statement) @import
    (export_statement) @export
    [(internal_module) (module)] @namespace
    (import_alias) @import_alias
    (enum_declaration) @enum
    (decorator) @decorator
    (public_field_definition "accessor" @accessor)
    (call_expression function: (import)) @import_call
    (meta_property) @meta
    (html_comment) @html_comment

    [(function_declaration) (function_expression) (generator_function) (generator_function_declaration)
     (arrow_function) (method_definition) (class_static_block)] @function
    (public_field_definition value: (_) @field_value)
    (await_expression) @await
    (for_in_statement "await" @await)
    (return_statement) @return
    """,
)

_TYPE_ONLY: Final = frozenset(
    {"interface_declaration", "type_alias_declaration", "ambient_declaration", "function_signature", "comment"}
)


def captures(parsed: ParsedProgram) -> list[Capture]:
    """All captures, outer before inner, in the order of the text."""
    found: list[Capture] = []
    shift = parsed.shift
    for name, nodes in QueryCursor(_QUERY).captures(parsed.root).items():
        for node in nodes:
            start, end = node.byte_range
            found.append((start >> shift, end >> shift, name, node))
    found.sort(key=_text_order)
    return found


def _text_order(capture: Capture) -> tuple[int, int, bool]:
    # A function that is the whole value of a field comes after it: it is the inner of the two.
    return capture[0], -capture[1], capture[2] == "function"


def is_type_only(statement: Node) -> bool:
    """Whether a statement of a module or namespace holds types alone, so that nothing of it runs."""
    pending = [statement]
    while pending:
        node = pending.pop()
        if node.type in _TYPE_ONLY or node.type == "empty_statement":
            continue
        if node.type in ("internal_module", "module"):
            body = node.child_by_field_name("body")
            pending += body.named_children if body is not None else []
        elif node.type == "expression_statement" and node.named_child_count == 1:
            inner = node.named_child(0)
            if inner.type != "internal_module":
                return False
            pending.append(inner)
        elif node.type in ("export_statement", "import_statement"):
            if _has_type_keyword(node):
                continue
            declaration = node.child_by_field_name("declaration") or node.child_by_field_name("value")
            if declaration is None and (specifiers := _specifiers(node)):
                if not all(_has_type_keyword(specifier) for specifier in specifiers):
                    return False
            elif declaration is None:
                return False
            else:
                pending.append(declaration)
        else:
            return False
    return True


def _has_type_keyword(node: Node) -> bool:
    return any(child.type == "type" for child in node.children)


def _specifiers(node: Node) -> list[Node]:
    """The names in braces of an import or export, if it has nothing but those."""
    clause = next((child for child in node.children if child.type in ("import_clause", "export_clause")), None)
    if clause is not None and clause.type == "import_clause":
        clause = clause.named_child(0) if clause.named_child_count == 1 else None
    if clause is None or clause.type not in ("named_imports", "export_clause"):
        return []
    return clause.named_children
