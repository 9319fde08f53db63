"""The search for the worst change: clever and untrusted, since the kernel checks what it finds."""
