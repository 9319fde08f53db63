"""The corpus: every number that the specs of the repository give, frozen in one file."""
