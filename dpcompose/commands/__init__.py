"""What each command does: read, analyse, print, choose the exit code."""
