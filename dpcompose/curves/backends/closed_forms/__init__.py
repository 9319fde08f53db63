"""Closed forms: Gaussians, equal responses, stated pairs, and one part that reads a whole curve."""
