"""The privacy notions: names, units, group privacy, conversions, words, and amounts of loss."""
