"""The certified ε at a chosen δ, or δ at a chosen ε, by several routes (theory, section 6)."""
