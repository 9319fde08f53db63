"""Numbers as people write them in a spec: exact fractions, and what else was probably meant."""
