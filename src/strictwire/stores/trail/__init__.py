"""The audit trail in one folder: writing it, recovering it, reading it, judging it. `stores.jsonl` is its front door."""
