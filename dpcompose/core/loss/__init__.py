"""Losses: how those of each notion add up, and what one mechanism loses for one change."""
