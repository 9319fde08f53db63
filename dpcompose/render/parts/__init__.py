"""The parts that results for people consist of, and how a terminal and Markdown show them."""
