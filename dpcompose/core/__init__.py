"""The mathematics: no input, no output, and of third-party packages only mpmath.

`exact` and `conversion` import mpmath when they first meet a function that is irrational, so that
most specs never load it.
"""
