"""Read-only code navigation on language servers. Every answer says which engine gave it and whether it is complete.

`engine` is the seam: values and Protocols. Above it are the tools; below it are the engines, the word index and the
text search.
"""
