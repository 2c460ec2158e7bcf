"""From a Python function to a contract and a handler: type hints, docstrings, results. Everything is worked out once.

hints        type hints, resolved
refused      DeclarationRefused, and how its messages name functions, parameters and types
metadata     what `Annotated[...]` and `Field(...)` say: constraints, descriptions, examples
leaves       the table of standard library types that need a schema or a conversion of their own
schemas      closed JSON Schemas, and placeholder classes for types that msgspec does not know
pydantic     everything that only pydantic can validate
types        lowers any type hint to one that msgspec converts
forms        classes with typed fields as the forms that `Context.elicit` shows
questions    questions to the client, and their typed answers
context      `Context`, the running call as a function sees it
docstrings   descriptions of parameters in docstrings
violations   why a value was refused, as violations that name its argument
parameters   the parameters of a function
results      the return value of a function
lifespan     the lifespan of a server
depends      `Depends`, and the functions that fill in parameters
running      the values of a server while it runs
inject       handlers of functions that need those values
tool, resource, prompt   one kind of declaration each
"""
