"""Where things are kept: the audit trail on disk and in memory. Each store implements a seam that a lower room defines."""
