"""The privacy notions."""
