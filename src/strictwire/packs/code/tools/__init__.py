"""The tools: one function each, from arguments that fit the schema to an answer."""
