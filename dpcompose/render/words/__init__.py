"""Numbers and sentences that all formats share."""
