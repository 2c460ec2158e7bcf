"""One frozen value from the settings file, the environment and the command line. The only readers of configuration."""
