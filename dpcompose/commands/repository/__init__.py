"""The repository around the working folder: its revisions, and which files were renamed."""
