"""Formats of others: what people already have becomes a spec, and a report an entry elsewhere."""
