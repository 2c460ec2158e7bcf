"""Settings: one frozen value from the settings file, the environment and the command line."""
