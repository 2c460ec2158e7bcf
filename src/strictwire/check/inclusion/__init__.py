"""Schema inclusion: does one schema accept every value that another schema accepts?

There are three results: `Included` has a proof; `NotIncluded` has a counterexample (the witness); `Undecided` says where
the proof stopped. Undecided is never treated as safe.

    shape    a schema in disjunctive normal form: a union of pieces, each one JSON type with a conjunction of constraints
    expand   converts a schema into its pieces
    admit    whether a piece accepts a value
    strings  strings with patterns, compared as automata
    clauses  the proof of opaque clauses such as `not`
    prove    the proof
    sample   generates values that a schema probably accepts, near the bounds of both schemas
    decide   combines the proof and the search
"""
