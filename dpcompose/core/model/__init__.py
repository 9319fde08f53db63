"""The problem, and its tree of datasets with the facts that depend on no change."""
