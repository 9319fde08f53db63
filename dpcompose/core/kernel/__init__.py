"""The kernel: the rules by which losses are bounded, and certificates of what they prove."""
