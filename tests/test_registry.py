"""Definitions and their lookup."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, Field

from genkit_eval import ConfigError, DataPoint, DuplicateName, Message, Plugin, Registry, Reply, UnknownName


class Options(BaseModel):
    most: int = 3
    words: list[str] = Field(default_factory=list, alias="theWords")


def short(point: DataPoint, options: Options) -> bool:
    return len(point.output) <= options.most


class Echo:
    async def generate(self, messages: Any, output: Any = None) -> Reply:
        return Reply(text=messages[-1].content)


class Lengths:
    async def embed(self, texts: Any) -> list[list[float]]:
        return [[float(len(text))] for text in texts]


class OtherLengths(Lengths):
    pass


def test_a_decorator_gives_the_function_back() -> None:
    registry = Registry()

    assert registry.define_evaluator("t/short")(short) is short
    assert registry.define_flow("f", len) is len


def test_an_evaluator_gives_the_prompts_and_models_that_its_metadata_holds() -> None:
    registry = Registry()
    metadata: Any = {"prompts": {"verdict": "Is {{answer}} short?"}, "models": {"judge": "p/echo"}}
    registry.define_evaluator("t/judged", short, metadata=metadata)
    registry.define_evaluator("t/odd", short, metadata={"prompts": ["none"]})
    registry.define_evaluator("t/short", short)

    assert registry.evaluator("t/judged").prompts == {"verdict": "Is {{answer}} short?"}
    assert registry.evaluator("t/judged").models == {"judge": "p/echo"}
    assert registry.evaluator("t/odd").prompts == registry.evaluator("t/short").prompts == {}


def test_names_with_and_without_their_kind_mean_the_same() -> None:
    registry = Registry()
    registry.define_evaluator("/evaluator/t/short", short)
    registry.define_flow("f", lambda x: x)
    registry.define_models("p", {"echo": Echo()})
    registry.define_embedders("p", {"lengths": Lengths()})

    assert registry.evaluator("t/short") is registry.evaluator("/evaluator/t/short")
    assert registry.flow("f") is registry.flow("/flow/f")
    assert registry.model("p/echo") is registry.model("/model/p/echo")
    assert registry.embedder("p/lengths") is registry.embedder("/embedder/p/lengths")


@pytest.mark.parametrize("kind", ["evaluator", "flow", "model", "embedder"])
def test_an_unknown_name_says_what_there_is(kind: str) -> None:
    registry = Registry()
    registry.define_evaluator("t/short", short)
    registry.define_flow("shorten", lambda x: x)

    with pytest.raises(UnknownName, match=f"unknown {kind} 't/shrt'"):
        getattr(registry, kind)("t/shrt")


def test_the_nearest_names_are_offered_or_all_or_none() -> None:
    assert "did you mean 'alpha'?" in str(UnknownName("flow", "alpa", ["alpha", "beta"]))
    assert "defined are 'alpha', 'beta'" in str(UnknownName("flow", "zzz", ["alpha", "beta"]))
    assert "and 5 more" in str(UnknownName("flow", "zzz", [f"flow{i:02}" for i in range(15)]))


@pytest.mark.parametrize(
    ("name", "offered"),
    [
        ("regex", "'genkitEval/regex'?"),
        ("FAITHFULNESS", "'judge/faithfulness' or 'quality/Faithfulness'?"),
        ("genkitEval/regx", "'genkitEval/regex'?"),
        ("juge/faithfulness", "'judge/faithfulness'?"),
    ],
)
def test_the_nearest_names_are_of_the_same_last_part_or_really_alike(name: str, offered: str) -> None:
    names = ["genkitEval/regex", "genkitEval/jsonata", "judge/faithfulness", "quality/Faithfulness", "rule/starts_with"]

    assert str(UnknownName("evaluator", name, names)).endswith(f"did you mean {offered}")
    assert "no flow is defined" in str(UnknownName("flow", "zzz", []))


def test_two_plugins_of_one_name_or_with_one_name_are_refused() -> None:
    registry = Registry()
    registry.install(Plugin("one", lambda r: r.define_flow("f", len)))

    with pytest.raises(DuplicateName, match=r"flow 'f' is defined twice: by plugin 'one' and by plugin 'two'"):
        registry.install(Plugin("two", lambda r: r.define_flow("f", len)))
    with pytest.raises(DuplicateName, match="plugin 'one'"):
        registry.install(Plugin("one", lambda r: None))


@pytest.mark.parametrize("name", ["", "a b", "a//b", "/x", "é", "../x", "a\n", "x/"])
def test_names_are_plain(name: str) -> None:
    with pytest.raises(ConfigError, match="expected letters"):
        Registry().define_evaluator(name, short)


def test_models_and_embedders_are_protocols() -> None:
    from genkit_eval import Embedder, Model

    assert isinstance(Echo(), Model)
    assert isinstance(Lengths(), Embedder)
    assert Message(role="user", content="hi").to_json() == {"role": "user", "content": "hi"}


def test_a_provider_may_make_the_model_of_any_name_once() -> None:
    made: list[str] = []

    def provider(name: str) -> Echo:
        made.append(name)
        return Echo()

    registry = Registry()
    registry.define_models("any", provider)

    model = registry.model("any/org/model:8b")

    assert registry.model("/model/any/org/model:8b") is model
    assert made == ["org/model:8b"]


def test_of_two_providers_the_longer_name_is_meant() -> None:
    registry = Registry()
    registry.define_embedders("any", lambda name: Lengths())
    registry.define_embedders("any/small", lambda name: OtherLengths())

    assert isinstance(registry.embedder("any/small/x"), OtherLengths)
    assert not isinstance(registry.embedder("any/large"), OtherLengths)


def test_a_model_that_is_listed_goes_before_one_that_can_be_made() -> None:
    listed = Echo()
    registry = Registry()
    registry.define_models("any", {"x": listed})
    registry.define_models("any", lambda name: Echo())

    assert registry.model("any/x") is listed
    assert registry.model("any/y") is not listed


@pytest.mark.parametrize(
    ("ref", "near"),
    [("opnai/gpt-x", "did you mean 'openai/gpt-x'?"), ("gpt-x", "'openai/gpt-x'"), ("openai/", "'openai/<name>'")],
)
def test_an_unknown_provider_names_the_nearest(ref: str, near: str) -> None:
    registry = Registry()
    registry.define_models("openai", lambda name: Echo())

    with pytest.raises(UnknownName, match=f"unknown model '{ref}'") as caught:
        registry.model(ref)

    assert near in str(caught.value)


def test_two_providers_of_one_name_are_refused() -> None:
    registry = Registry()
    registry.define_models("any", lambda name: Echo())

    with pytest.raises(DuplicateName, match="model provider 'any' is defined twice"):
        registry.define_models("any", lambda name: Echo())


def test_what_cannot_run_without_options_or_is_for_special_data_is_not_ready() -> None:
    class Budget(BaseModel):
        most: int

    registry = Registry()
    registry.define_evaluator("t/short", short)
    registry.define_evaluator("t/budget", lambda point, options: True, options=Budget)
    registry.define_evaluator("t/lacking", lambda point: True, needs="needs a judge")
    registry.define_evaluator("t/special", lambda point: True, metadata={"onRequest": True})

    assert registry.ready_evaluators == ["t/short"]


def test_an_alias_is_its_evaluator_with_options_that_differ() -> None:
    registry = Registry()
    registry.define_evaluator("t/short", short)
    registry.define_alias("other/Short", "t/short", most=5)

    alias = registry.evaluator("/evaluator/other/Short")

    assert (alias.name, alias.alias_of, alias.key) == ("other/Short", "t/short", "/evaluator/other/Short")
    assert alias.parse_options({}) == Options(most=5)
    assert alias.parse_options({"most": 2, "theWords": ["a"]}) == Options(most=2, theWords=["a"])
    assert registry.evaluator("t/short").parse_options({}) == Options(most=3)


def test_an_alias_may_preset_an_option_that_has_another_name_in_json() -> None:
    registry = Registry()
    registry.define_evaluator("t/short", short)
    registry.define_alias("other/Short", "t/short", words=["a"])
    registry.define_alias("third/Short", "other/Short", most=1)

    alias = registry.evaluator("third/Short")

    assert alias.alias_of == "t/short"
    assert alias.parse_options({}) == Options(most=1, theWords=["a"])
    assert alias.parse_options({"theWords": []}) == Options(most=1)


def test_an_alias_of_nothing_and_one_with_an_unknown_option_are_refused() -> None:
    registry = Registry()
    registry.define_evaluator("t/short", short)

    with pytest.raises(UnknownName, match="did you mean 't/short'"):
        registry.define_alias("other/Short", "t/shor")
    with pytest.raises(UnknownName, match="did you mean 'most'"):
        registry.define_alias("other/Short", "t/short", mos=5)


def test_an_alias_takes_no_name_that_is_taken() -> None:
    registry = Registry()
    registry.define_evaluator("t/short", short)
    registry.define_alias("other/Short", "t/short")

    with pytest.raises(DuplicateName):
        registry.define_alias("t/short", "t/short")
    with pytest.raises(DuplicateName):
        registry.define_evaluator("other/Short", short)


def test_a_name_near_an_alias_is_helped_along() -> None:
    registry = Registry()
    registry.define_evaluator("t/short", short)
    registry.define_alias("other/Brevity", "t/short")

    with pytest.raises(UnknownName, match="did you mean 'other/Brevity'"):
        registry.evaluator("other/brevity")
