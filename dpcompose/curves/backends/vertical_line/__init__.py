"""The vertical line: δ as an integral of transforms of the loss along θ + it, without a grid."""
