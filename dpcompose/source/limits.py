"""The limits on what a file holds, since it may come from a stranger."""

MAX_BYTES = 64 * 2**20
MAX_BYTES_WITHOUT_LIBYAML = 4 * 2**20  # PyYAML's own parser is many times slower
MAX_DEPTH = 100
MAX_DOCUMENTS = 1_000  # of a file
MAX_NODES = 5_000_000
MAX_ALIASED_NODES = 100_000  # what all aliases of a file may expand to
MAX_NAME = 10_000  # characters of a key or an unquoted text
MAX_FAULTS = 100  # listed in one go; the rest are counted,
MAX_COUNTED = 10_000  # until there are so many that reading stops
MAX_TAG_DIRECTIVES = 100  # libyaml takes quadratic time over them
