"""An independent answer to small specs, found by exhaustive enumeration."""
