"""Reading: the files that arguments select, their content, and the settings that apply to them."""
