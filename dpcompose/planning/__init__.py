"""What several specs, or changed ones, cost: totals, differences, what would fit a budget."""
