"""The ranking of `context.search`: real terms, passages, BM25F and a token budget. It shares only documents with v0."""
