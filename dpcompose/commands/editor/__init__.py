"""The language server: what an editor asks while a spec is written."""

from __future__ import annotations

from dpcompose.commands.exits import BadCall, ExitCode
from dpcompose.commands.run import Run


def serve(run: Run) -> ExitCode:
    """Runs the command `lsp`: answers an editor until it says `exit`.

    Returns 1 where the editor ended without `shutdown`. Raises BadCall where pygls is missing, or a
    settings file that is named.
    """
    _ = run.policies  # read now, so that a bad one is told before an editor waits
    try:
        from dpcompose.commands.editor.server import SpecServer
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise BadCall(
            "the language server needs pygls 2: python -m pip install 'dpcompose[lsp]'"
        ) from error
    return SpecServer(run).talk()
