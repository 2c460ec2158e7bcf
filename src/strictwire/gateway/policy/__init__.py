"""Who may call which tool, and how often."""
