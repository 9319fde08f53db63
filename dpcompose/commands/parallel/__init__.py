"""Work distributed over processes."""
