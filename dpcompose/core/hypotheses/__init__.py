"""Adversaries who weigh a few hypotheses about one person (HBW22), corrected."""
