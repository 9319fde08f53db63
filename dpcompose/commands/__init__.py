"""The commands: each reads specs, analyses them, prints, and returns the exit code."""
