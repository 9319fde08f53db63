"""What other programs and reviews read: findings, tables, summaries and registry entries."""
