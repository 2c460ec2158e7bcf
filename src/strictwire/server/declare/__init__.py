"""From a Python function to a contract and a handler: type hints, docstrings, results. Everything is worked out once.

refused      DeclarationRefused, and how its messages name functions, parameters and types
metadata     what `Annotated[...]` and `Field(...)` say: constraints, descriptions, examples
leaves       the table of standard library types that need a schema or a conversion of their own
special      placeholder classes for types that msgspec does not know
schemas      closed JSON Schemas
pydantic     everything that only pydantic can validate
types        lowers any type hint to one that msgspec converts
docstrings   descriptions of parameters in docstrings
violations   why a value was refused, as violations that name its argument
parameters   the parameters of a function
results      the return value of a function
tool, resource, prompt   one kind of declaration each
"""
