"""The git repository around the working folder: its revisions, history and renamed files."""
