"""An evaluator as runs would find it: with what was made for it once."""

from __future__ import annotations

from genkit_eval.cli.output import tell
from genkit_eval.cli.session import Session
from genkit_eval.definitions import Evaluator
from genkit_eval.errors import ConfigError
from genkit_eval.preparation import prepare
from genkit_eval.waiting import run_sync

__all__ = ["prepared_evaluator"]


def prepared_evaluator(session: Session, name: str) -> Evaluator:
    """The evaluator of that name, with what was made for it, where that is kept; no model is asked.

    Raises:
        UnknownName, ConfigError: there is none of that name.
    """
    registry = session.ge.registry
    with session.naming_the_app():
        evaluator = registry.evaluator(name)
    bare = evaluator.alias_of or evaluator.name
    if bare in registry.preparations:
        try:
            run_sync(prepare(registry, [bare], session.ge.root / "prepared", may_ask=False))
        except ConfigError as problem:
            tell(f"notice: {problem}")
    return registry.evaluator(name)
