"""Writing results: to standard output piece by piece, or to files all at once, in one format or in
several, all rendered from one pass."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from io import StringIO, TextIOWrapper
from itertools import tee
from typing import Generic, Literal, NamedTuple, NoReturn, TextIO, TypeVar

from dpcompose.commands.choices import Color
from dpcompose.commands.exits import BadCall, ExitCode, complain, is_terminal
from dpcompose.errors import nearest
from dpcompose.render import Format
from dpcompose.render.layout import STAND_IN, Style, transliterated
from dpcompose.render.logs import Inert

#: Columns: the least that is accepted, the width of a pipe or a file, and the most.
NARROWEST, AWAY, MOST_COLUMNS = 40, 100, 10_000


class Look(NamedTuple):
    """How the user wants to see results.

    `width`: columns, None for those of the terminal. `detail`, `whole` and `plot`: as in
    `Style`.
    """

    color: Color = Color.AUTO
    width: int | None = None
    detail: Literal["brief", "usual", "full"] = "usual"
    whole: bool = False
    plot: bool = False


def style_for(path: str | None, look: Look, site: str = "") -> Style:
    """Returns the style for the file at `path`, or for standard output.

    `site`: the address of the documentation; a terminal in colour has hyperlinks to it.

    For colours the flag wins, then NO_COLOR, then FORCE_COLOR, then whether it is a terminal. The
    width is what was asked for, then that of the terminal or COLUMNS, else 100 columns.
    """
    stream = sys.stdout
    printed = to_standard_output(path) and stream is not None
    terminal = printed and is_terminal(stream)
    colour = _coloured(look.color, terminal) if printed else look.color is Color.ALWAYS
    return Style(
        width=look.width if look.width is not None else max(NARROWEST, _columns(terminal)),
        colour=colour,
        encoding=(stream.encoding or "utf-8") if printed else "utf-8",
        detail=look.detail,
        whole=look.whole,
        plot=look.plot,
        site=site,
        hyperlinks=terminal and colour,
    )


def _columns(terminal: bool) -> int:
    """Returns the width of the terminal; elsewhere what COLUMNS says, else 100."""
    if terminal:
        return shutil.get_terminal_size().columns
    said = os.environ.get("COLUMNS", "")
    return min(int(said), MOST_COLUMNS) if said.isascii() and said.isdigit() else AWAY


def _coloured(color: Color, terminal: bool) -> bool:
    """Returns whether output is coloured, by the flag, the environment and the terminal."""
    if color is not Color.AUTO:
        return color is Color.ALWAYS
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return terminal and os.environ.get("TERM") != "dumb"


def deliver(pieces: Iterable[str], path: str | None, raw: bool = False) -> None:
    """Prints each piece as it comes, or writes all of them to the file at `path` (not `-`).

    `raw`: whether every byte matters, as in a data file; else commands for a log are escaped.
    Raises SystemExit where writing fails.
    """
    deliver_all(((0, piece) for piece in pieces), [path], raw=raw)


def deliver_all(
    pieces: Iterable[tuple[int, str]],
    paths: Sequence[str | None],
    commanding: Collection[int] = (),
    raw: bool = False,
) -> None:
    """Writes each piece to the one of `paths` that its number names; None and `-` are printed.

    What is printed goes out as it comes; files appear at the end, whole, or not at all. The pieces
    with a number in `commanding` are meant as commands for a log. Raises SystemExit where writing
    fails.
    """
    if not raw:
        inert = [Inert(number in commanding) for number in range(len(paths))]
        pieces = ((number, inert[number](piece)) for number, piece in pieces)
    files = [str(path) for path in paths if not to_standard_output(path)]
    if not files:
        for _, piece in pieces:
            _print(piece)
        return
    from dpcompose.commands.writing.replace import Unwritable, replaced

    unread: SystemExit | None = None  # nobody reads standard output any more: the files go on
    try:
        with replaced(files) as writers:
            waiting = iter(writers)
            ways = [None if to_standard_output(path) else next(waiting) for path in paths]
            for number, piece in pieces:
                write = ways[number]
                if write is not None:
                    write(piece)
                elif unread is None:
                    try:
                        _print(piece)
                    except SystemExit as end:
                        if end.code != ExitCode.NO_READER:
                            raise
                        unread = end
    except Unwritable as error:
        complain(str(error))
        raise SystemExit(ExitCode.USAGE) from error
    if unread is not None:
        raise unread


def to_standard_output(path: str | None) -> bool:
    """Returns whether results go to standard output."""
    return path is None or path == "-"


def print_out(text: str) -> None:
    """Prints text with commands for a log escaped. Raises SystemExit as `deliver`."""
    _print(Inert()(text))


def _print(text: str) -> None:
    """Writes text to standard output at once; the stream that `guard` made ends the run where that
    fails."""
    sys.stdout.write(transliterated(text, sys.stdout.encoding or "utf-8"))
    sys.stdout.flush()


def refuse_overwrite(
    paths: Iterable[str | None], files: Iterable[str], each_is: str = "a spec"
) -> None:
    """Raises BadCall if writing to one of `paths` would overwrite one of `files`; `each_is`: what
    they are."""
    for path in paths:
        if to_standard_output(path):
            continue
        for file in files:
            with suppress(OSError, ValueError):  # ValueError: a null byte in the name
                if os.path.isfile(str(path)) and os.path.samefile(str(path), file):
                    raise BadCall(f"--output {path} would overwrite {each_is}")


# --- several outputs of one run --------------------------------------------------------------

_Form = TypeVar("_Form", bound=StrEnum)
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Output(Generic[_Form]):
    """A format and the file it goes to; standard output for None and `-`."""

    form: _Form
    path: str | None = None


def outputs_of(values: Sequence[str], form: _Form) -> tuple[Output[_Form], ...]:
    """Returns the outputs that `--format` and every `--output` ask for, the main one first.

    `FORMAT=FILE` adds an output; a plain `FILE` is where the main one goes, which has the format
    `form`. `FORMAT=-` replaces it on standard output. Raises BadCall.
    """
    plain: list[str] = []
    named: list[Output[_Form]] = []
    for value in values:
        name, equals, path = value.partition("=")
        if equals and name.isalpha():
            named.append(Output(_form_named(name, path, type(form)), path))
        else:
            plain.append(value)
    if len(plain) > 1:
        raise BadCall(
            f"--output {plain[0]} and --output {plain[1]}: one file for --format {form}; "
            "further outputs are FORMAT=FILE"
        )
    printed = [each for each in named if to_standard_output(each.path)]
    if printed and not plain:
        found = (printed[0], *(each for each in named if each is not printed[0]))
    else:
        found = (Output(form, plain[0] if plain else None), *named)
        meant = plain[0].rpartition(".")[2].lower() if plain else ""
        if form == "text" != meant and meant in set(type(form)):
            complain(f"{plain[0]} is written as text: -o {meant}={plain[0]} writes {meant}")
    _refuse_twice(found)
    return found


def _form_named(name: str, path: str, forms: type[_Form]) -> _Form:
    """Returns the format that `FORMAT=FILE` names. Raises BadCall."""
    if name not in set(forms):
        near = nearest(name, list(forms))
        offer = f"; did you mean {near}={path}?" if near else ";"
        raise BadCall(
            f"--output {name}={path}: {name} is no format ({', '.join(forms)}){offer} "
            f"a file of that name is ./{name}={path}"
        )
    if not path:
        raise BadCall(f"--output {name}=: a file is due after the =, as in {name}=FILE")
    return forms(name)


def _refuse_twice(outputs: Sequence[Output[_Form]]) -> None:
    """Raises BadCall where two outputs go to one file."""
    seen: set[str] = set()
    for each in outputs:
        place = "-"
        if not to_standard_output(each.path):
            place = str(each.path)
            with suppress(ValueError):  # a null byte: opening the file reports it
                place = os.path.realpath(place)
        if place in seen and place != os.devnull:
            where = "standard output" if place == "-" else each.path
            raise BadCall(f"two outputs go to {where}")
        seen.add(place)


#: A function that yields the pieces of one output.
Rendering = Callable[[Iterable[_Item]], Iterator[str]]


def rendered(
    reports: Iterable[_Item], renderings: Sequence[Rendering[_Item]]
) -> Iterator[tuple[int, str]]:
    """Yields the pieces of every rendering, each with the rendering's number.

    The reports are made once, and not kept: the rendering that has read the fewest reports goes on,
    so that few of them wait for it.
    """
    if len(renderings) == 1:
        yield from ((0, piece) for piece in renderings[0](reports))
        return
    taken = [0] * len(renderings)

    def counted(number: int, copy: Iterable[_Item]) -> Iterator[_Item]:
        """Yields the reports of one rendering, and counts them."""
        for report in copy:
            taken[number] += 1
            yield report

    copies = tee(reports, len(renderings))
    going = {
        number: rendering(counted(number, copy))
        for number, (rendering, copy) in enumerate(zip(renderings, copies, strict=True))
    }
    del copies
    while going:
        behind = min(going, key=taken.__getitem__)
        piece = next(going[behind], None)
        if piece is None:
            del going[behind]
        else:
            yield behind, piece


def write_outputs(
    items: Iterable[_Item], outputs: Sequence[Output[_Form]], renderings: Sequence[Rendering[_Item]]
) -> None:
    """Writes the items to every output. Raises SystemExit where writing fails."""
    commanding = [at for at, each in enumerate(outputs) if each.form == Format.GITHUB]
    deliver_all(rendered(items, renderings), [each.path for each in outputs], commanding)


# --- the standard streams --------------------------------------------------------------------


def unprintable(stream: TextIO | None, error: OSError | None = None) -> NoReturn:
    """Ends the run, since standard output does not take what is printed, or is closed (None)."""
    why = "it is closed"
    if stream is not None and error is not None:
        _abandon(stream, error)
        if isinstance(error, BrokenPipeError):
            raise SystemExit(ExitCode.NO_READER) from error
        why = error.strerror or str(error)
    complain(f"cannot write to standard output: {why}")
    raise SystemExit(ExitCode.USAGE)


def guard() -> None:
    """Replaces the standard streams, so that failed writes end the run, also those of help texts.

    A failed write to standard error is ignored, and nothing
    there is a command for a log, which typer may repeat from a bad call. Both streams take every
    character.
    """
    if sys.stdout is None:
        sys.stdout = _Closed()
    elif type(sys.stdout) is TextIOWrapper:
        sys.stdout = _Guarded(sys.stdout, unprintable)
    if type(sys.stderr) is TextIOWrapper:
        sys.stderr = _Guarded(sys.stderr, _abandon, Inert())


class _Guarded(TextIOWrapper):
    """A copy of the stream `over` that calls `fail` when a write fails.

    `inert`: a function applied to everything that is written.
    """

    def __init__(
        self,
        over: TextIOWrapper,
        fail: Callable[[TextIO, OSError], object],
        inert: Callable[[str], str] | None = None,
    ) -> None:
        self._fail = fail
        self._inert = inert
        super().__init__(
            over.buffer,
            over.encoding,
            STAND_IN,
            line_buffering=over.line_buffering,
            write_through=over.write_through,
        )

    def write(self, text: str) -> int:
        """Writes a text and returns its length, also where that failed and `fail` returned."""
        try:
            super().write(text if self._inert is None else self._inert(text))
            return len(text)
        except OSError as error:
            self._fail(self, error)
            return len(text)

    def flush(self) -> None:
        """Writes what is buffered; `fail` is called where that fails."""
        try:
            super().flush()
        except OSError as error:
            self._fail(self, error)


class _Closed(StringIO):
    """A standard output that does not exist: a write to it ends the run."""

    def write(self, _text: str) -> int:
        """Ends the run."""
        unprintable(None)


def _abandon(stream: TextIO, _error: OSError) -> None:
    """Redirects a stream to nowhere, so that Python does not fail on buffered text at exit."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
