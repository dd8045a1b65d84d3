"""An evaluator as runs would find it: with what was made for it once."""

from __future__ import annotations

from collections.abc import Mapping

from genkit_eval.cli.output import tell
from genkit_eval.cli.session import MODELS, Session, open_app
from genkit_eval.definitions import Evaluator
from genkit_eval.errors import ConfigError
from genkit_eval.preparation import take_kept
from genkit_eval.settings import find_settings
from genkit_eval.testing.fakes import HashEmbedder, ScriptedModel

__all__ = ["open_with_judge", "prepared_evaluator"]

STAND_IN = "stand-in"


def open_with_judge(options: Mapping[str, object]) -> Session:
    """The app; the installed plugins with a judge and an embedder that are never asked, unless some are named."""
    settings = find_settings(options)
    if settings.get("app").value is not None:
        return open_app(options)
    session = open_app({**options, **{name: settings.get(name).value or f"{STAND_IN}/{name}" for name in MODELS}})
    session.ge.registry.define_models(STAND_IN, {"judge": ScriptedModel([])})
    session.ge.registry.define_embedders(STAND_IN, {"embedder": HashEmbedder()})
    return session


def prepared_evaluator(session: Session, name: str) -> Evaluator:
    """The evaluator of that name, with what was made for it, where that is kept; no model is asked.

    Raises:
        UnknownName, ConfigError: there is none of that name.
    """
    registry = session.ge.registry
    with session.naming_the_app():
        evaluator = registry.evaluator(name)
    if evaluator.own_name in registry.preparations:
        try:
            registry = take_kept(registry, [evaluator.own_name], session.ge.root)
        except ConfigError as problem:
            tell(f"notice: {problem}")
    found = registry.evaluator(name)
    if found.own_name in registry.preparations:
        # what else it may need, a judge say, is of no matter to who only looks at it
        tell(f"notice: evaluator '{name}' {found.needs}")
    return found
