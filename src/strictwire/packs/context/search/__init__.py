"""The better ranking beside v0: real terms, passages, BM25F, a counted budget. Shares documents with v0 and nothing else."""
