"""Pages for a browser: reports, totals, and the site of the documentation."""
