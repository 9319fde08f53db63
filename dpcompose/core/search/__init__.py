"""The search for the worst change. It is not trusted: `checker.py` verifies its claims."""
