"""The entry point: runs a command, and turns what goes wrong into one clear line and exit code 1."""

from __future__ import annotations

import os
import sys

DEBUG = "--debug"
INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> None:
    """Run one command and exit: 0 if it worked, 1 if not (one line on stderr), 2 for wrong usage, 130 for Ctrl-C.

    `--debug`, anywhere, shows the trace of an error.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = DEBUG in given
    given = [word for word in given if word != DEBUG]
    sys.exit(_run(given, debug))


def _run(arguments: list[str], debug: bool) -> int:
    from tessarray.cli.app import app

    try:
        app(args=arguments, prog_name="tessarray")
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 1
        # typer makes this exit code of Ctrl-C, and says nothing.
        return _interrupted(leaving) if code == INTERRUPTED else code
    except KeyboardInterrupt as interrupt:
        return _interrupted(interrupt)
    except BrokenPipeError:
        # The reader of our output has left (`tessarray read ... | head`).
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:  # the one place that catches everything
        if debug:
            raise
        print(f"tessarray: {one_line(error)}", file=sys.stderr)
        return 1
    return 0


def _interrupted(error: BaseException | None) -> int:
    """Say that Ctrl-C was pressed, and what the interrupted command said of it."""
    said = ""
    while error is not None:
        if isinstance(error, KeyboardInterrupt) and error.args:
            said = f"; {error.args[0]}"
            break
        error = error.__cause__ or error.__context__
    print(f"tessarray: interrupted{said}", file=sys.stderr)
    return INTERRUPTED


def one_line(error: BaseException) -> str:
    """An error as one line, with its kind if the text alone says little."""
    text = " ".join(str(error).split())
    # A KeyError's text is its key in quotes.
    return (
        text if len(text.split()) > 2 else f"{type(error).__name__}: {text}" if text else type(error).__name__
    )
