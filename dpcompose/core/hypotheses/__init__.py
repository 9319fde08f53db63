"""Bounds against adversaries with two hypotheses about one person (HBW22), corrected."""
