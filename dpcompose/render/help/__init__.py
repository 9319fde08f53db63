"""What `explain` and `theorems` print."""
