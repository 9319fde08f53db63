"""The results of `total`, `diff`, `fit` and `savings`."""
