"""`dpcompose` and `python -m dpcompose`: run the command line; the last resort for faults."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit with its code; 70 for an internal fault, with its traceback."""
    try:
        from dpcompose.cli import run

        run()
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception:
        import traceback

        if sys.stderr is not None:
            traceback.print_exc()
            sys.stderr.write("dpcompose: this is a fault of dpcompose, not of the spec\n")
        sys.exit(70)


if __name__ == "__main__":
    main()
