"""The functions that read specs from bytes."""

from dpcompose.errors import InvalidSpec
from dpcompose.memory import without_garbage_collection
from dpcompose.source.positions import Lines, Source
from dpcompose.source.reader import Reader
from dpcompose.source.text import check_text, decode


def load(data: bytes | str, name: str, lines_above: int = 0) -> Source:
    """Returns the one document in `data`. Raises InvalidSpec with all faults found.

    `name`: the name of the file in faults. `lines_above` is added to every line number, for a
    document cut out of a stream.
    """
    return _read(data, name, False, lines_above)[0]


def load_all(data: bytes | str, name: str) -> list[Source]:
    """Returns all documents in `data`, at least one. Raises InvalidSpec with all faults found."""
    return _read(data, name, True)


def _read(data: bytes | str, name: str, several: bool, lines_above: int = 0) -> list[Source]:
    """Returns the documents in `data`; where not `several`, a second one is a fault."""
    text = decode(data, name)
    lines = Lines(text, lines_above)
    reader = Reader(lines, several)
    if check_text(text, reader.faults):
        with without_garbage_collection():
            reader.read()
    faults = reader.faults.all()
    if faults:
        raise InvalidSpec(faults, name, lines)
    return [Source(name, value, lines, reader.marks, root) for root, value in reader.documents]
