"""Releases on the same people: their total, what became of them, and what one more may have."""
