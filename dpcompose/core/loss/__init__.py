"""Losses: their composition in each notion, and the loss of one mechanism for one change."""
