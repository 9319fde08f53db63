"""The privacy notions, one file each: names, units, group privacy, conversions, words."""
