"""The search for the worst change: clever and untrusted; `checker.py` goes through its claims."""
