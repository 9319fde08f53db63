"""Reports for people: in full, as a table of many, in one line, and as a paragraph."""
