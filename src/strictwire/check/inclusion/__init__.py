"""Whether every value that one schema accepts is accepted by another.

Three answers: `Included` has a proof (and a search that tried to refute it), `NotIncluded` has a value that shows it,
`Undecided` says at which place the proof stopped. Undecided is never safe.

    shape    a schema as a union of pieces: one JSON type and a conjunction of constraints each
    expand   from a schema to its pieces
    admit    whether a piece admits one value
    prove    the proof
    sample   values a schema is likely to accept, near the edges of both schemas
    decide   the proof and the search together
"""
