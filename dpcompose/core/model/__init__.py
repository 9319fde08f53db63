"""What is asked: the problem, and what is known of its tree before any change is followed."""
