"""Numbers: exact fractions, how people write them, and rounding to the safe side."""
