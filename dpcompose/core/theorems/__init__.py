"""The theorem book, its entries, and the rule engine that selects among them."""
