"""One file per dialect: a pure function from a Failure and the facts of its call to JSON."""
