"""The mathematics: no input, no output, no third-party packages."""
