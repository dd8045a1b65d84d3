"""A command as a target: started for each sample, with the input on stdin and the output from stdout, both as JSON."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from pathlib import Path

from pydantic import JsonValue

from genkit_eval._json import dump, load
from genkit_eval.definitions import Flow
from genkit_eval.engine.targets.processes import ended
from genkit_eval.errors import ConfigError, TargetError
from genkit_eval.http_faults import start_of
from genkit_eval.redaction import Redactor, looks_like_key, may_be_secret

__all__ = ["COMMAND", "CommandTarget"]

COMMAND = "command:"
"""What a command's name in run files begins with."""
SHOWN = 500


@dataclass(frozen=True)
class CommandTarget:
    """A command that answers one sample and ends: one JSON value on its stdin, one on its stdout.

    An object with `output` and other fields of a data point (`context`, `usage`, `tools`, `turns`, `attachments`, …)
    reports these beside the output. A command that ends with another exit code than 0 has failed; what it wrote to
    stderr last is in the error. At a deadline it is killed with all that it started.

    Args:
        command: the program and its arguments; no shell reads them. They are kept with the run: a secret reaches the
            command by its environment, which is that of this process. What a variable holds whose name says that it
            may be secret (`…_KEY`, `…_TOKEN`, …) is cut out of what the command says.
        folder: where it runs; default: the working directory of now.

    Raises:
        ConfigError: it is no list of texts, or would put a key into the run file.
    """

    command: Sequence[str]
    _: KW_ONLY
    folder: Path | str | None = None

    def __post_init__(self) -> None:
        words = self.command
        if isinstance(words, str) or not words or not all(isinstance(word, str) for word in words) or not words[0]:
            shown = Redactor(())(repr(words))
            raise ConfigError(f"the command is {shown}: give the program and its arguments, like ['./answer', '--x']")
        if looks_like_key(" ".join(words)):
            raise ConfigError(
                "the command's arguments hold what looks like a key, and would be kept with the run: give it by a "
                "variable of the environment, which the command reads"
            )

    @property
    def name(self) -> str:
        """How run files and messages name it."""
        return COMMAND + shlex.join(self.command)

    def flow(self) -> Flow:
        """As what a run calls.

        Raises:
            ConfigError: there is no such program, or no such folder.
        """
        folder = Path(self.folder or Path()).absolute()
        if not folder.is_dir():
            raise ConfigError(f"{self.name}: there is no folder {folder} to run it in")
        program = self.command[0]
        # what names a folder is looked up there, all else as a shell does
        found = shutil.which(program if Path(program).name == program else str(folder / program))
        if found is None:
            raise ConfigError(f"{self.name}: '{program}' is no program that can be run in {folder}")
        config: dict[str, JsonValue] = {"command": list(self.command), "folder": str(folder)}
        redactor = Redactor(value for name, value in os.environ.items() if may_be_secret(name))
        call = partial(_answer, self.name, [found, *self.command[1:]], folder, redactor)
        return Flow(name=self.name, fn=call, is_async=True, kind="command", config=config)


async def _answer(name: str, command: Sequence[str], folder: Path, redactor: Redactor, value: JsonValue) -> JsonValue:
    try:
        process = await ended(command, folder=folder, given=dump(value))
    except OSError as problem:
        raise TargetError(f"{name} could not be started: {problem.strerror or problem}") from None
    last_words = _last_words(redactor(process.errors.decode(errors="replace").strip()))
    if process.too_much:
        raise TargetError(f"{name} printed more than {len(process.output) >> 20} MiB: no output can be so large")
    if process.code != 0:
        how = f"ended with exit code {process.code}" if process.code > 0 else f"was ended by signal {-process.code}"
        raise TargetError(f"{name} {how}{last_words}")
    if not process.output.strip():
        raise TargetError(f"{name} printed nothing: expected one JSON value{last_words}")
    try:
        output: JsonValue = load(redactor.in_reply(process.output.decode()))
    except (ValueError, RecursionError) as problem:
        said = redactor(process.output[:SHOWN].decode(errors="replace").strip())
        raise TargetError(
            f"{name} printed what is no JSON ({start_of(str(problem))}), {said!r}: expected one JSON value, like a "
            "text in quotes; logs belong on stderr"
        ) from None
    return output


def _last_words(text: str) -> str:
    return f": {text if len(text) <= SHOWN else '… ' + text[-SHOWN:]}" if text else ""
