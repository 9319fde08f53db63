"""The kernel: the rules by which losses are bounded, and the check of a certificate by them."""
