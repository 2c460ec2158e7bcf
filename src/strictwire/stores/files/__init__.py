"""The audit trail as files in one folder. `trail.FileTrail` records, `view.FileTrailView` reads."""
