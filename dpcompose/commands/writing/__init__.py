"""Writing: results to standard output and files, and progress to whoever waits."""
