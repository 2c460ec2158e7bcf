"""The audit trail in memory, for tests and trial runs."""
