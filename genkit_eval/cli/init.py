"""`genkit-eval init`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from genkit_eval.cli.options import Verb
from genkit_eval.cli.output import say, say_json
from genkit_eval.report.documents import json_pieces
from genkit_eval.report.lines import blank, line
from genkit_eval.starter import STARTER_COMMAND, write_starter

__all__ = ["command"]


@click.command("init", cls=Verb)
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path, file_okay=False))
def command(**options: Any) -> int:
    """Write a small app, a dataset and the settings into DIR (default: here), and say how to run them.

    Nothing that exists is overwritten.

    \b
    Example:
      genkit-eval init demo
    """
    folder: Path = options["folder"]
    paths = write_starter(folder)
    commands = [] if folder == Path() else [shlex.join(["cd", str(folder)])]
    commands += [shlex.join(["genkit-eval", *STARTER_COMMAND]), "genkit-eval show"]
    if options["as_json"]:
        say_json(json_pieces({"files": [str(path) for path in paths], "next": commands}))
    else:
        say([*(line(f"wrote {path}") for path in paths), blank(), line("next:"), *(line(f"  {c}") for c in commands)])
    return 0
