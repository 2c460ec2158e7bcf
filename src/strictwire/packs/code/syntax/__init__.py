"""What syntax alone tells: the symbols of a file, and whether a word stands in code, in a string or in prose.

For languages without an engine, and as a second opinion on mentions. It knows no types, no imports and no references.
"""
