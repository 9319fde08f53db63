"""The routes to an ε at a chosen δ, or to a δ at a chosen ε (theory, section 6)."""
