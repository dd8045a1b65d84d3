"""Evaluators of one's own in files: read, written, and what their schema says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

import genkit_eval_judges
from genkit_eval import ConfigError, GenkitEval
from genkit_eval.datasets.yaml_files import parse_yaml
from genkit_eval.evaluator_files import evaluator_text, file_name, load_evaluators, read_evaluators, write_evaluator
from genkit_eval.testing import ScriptedModel, data_point
from genkit_eval_judges import Anchors, Category, Criterion, Demonstration, GEval, Nearest, Range, Variable, judges
from genkit_eval_judges.documents import document_of, document_schema, own_of
from genkit_eval_judges.quality import RUBRICS
from genkit_eval_judges.quality.as_criterion import as_criterion
from genkit_eval_judges.quality.rubric import Rubric
from genkit_eval_judges.starter import starter_text
from tests.replacing import with_one_value_replaced

FULL = Criterion(
    name="custom/window",
    title="Refund window",
    intent="Customers learn of it.\n",
    criterion="{{response}} keeps to {{policy}}.\n\n  And: no other — «zwölf» 三十 {{ }} # no comment\n",
    variables=(
        "response",
        Variable(name="policy", meaning="the rules", required=False),
        Variable(name="cases", nearest=Nearest(dataset="faq", k=5, by="response", show=("input",))),
    ),
    scale=Range(low=1, high=5),
    anchors=Anchors(low="no", high="1: yes"),
    demonstrations=(Demonstration(request="null", response="yes\n", score=2, justification="- x"),),
    model="openai/x",
    parameters={"temperature": 0, "stop": ["---", "on"]},
    threshold=None,
    direction="minimize",
)
OWN = [
    FULL,
    Criterion(name="a", intent="i", criterion="c"),
    Criterion(
        name="b", intent="i", criterion="c", scale=(Category(label="yes", score=1), Category(label="1:30", score=0))
    ),
    Criterion(
        name="c", intent="i", criterion="c", scale="binary", demonstrations=(Demonstration(response="r", score=True),)
    ),
    GEval(name="coherence", criterion="c", steps=("Read.", "Rate {{response}}."), weighting="on", threshold=0.7),
]


@pytest.mark.parametrize("own", OWN, ids=lambda own: own.name)
def test_a_file_gives_back_what_was_written(own: Criterion | GEval) -> None:
    text = evaluator_text(document_of(own))

    assert own_of(parse_yaml(text)) == own
    assert document_of(own_of(parse_yaml(text))) == document_of(own)


texts = st.text(min_size=1).filter(lambda text: text.strip() and "{{" not in text)
criteria = st.builds(
    Criterion,
    name=st.from_regex(r"[a-z_]{1,9}(/[A-Z0-9][a-z.:-]{0,9})?", fullmatch=True),
    title=st.none() | texts,
    intent=texts,
    criterion=texts,
    scale=st.sampled_from(["continuous", "binary"]),
    anchors=st.none() | st.builds(Anchors, low=st.none() | texts, high=st.none() | texts),
    parameters=st.none() | st.dictionaries(texts, texts | st.integers() | st.booleans() | st.none()),
    threshold=st.none() | st.floats(0, 1),
    direction=st.sampled_from(["maximize", "minimize"]),
)


@settings(max_examples=60)
@given(criteria)
def test_a_file_loses_nothing(own: Criterion) -> None:
    assert own_of(parse_yaml(evaluator_text(document_of(own)))) == own


@pytest.mark.anyio
async def test_a_file_judges_as_the_code_does(tmp_path: Path) -> None:
    file = tmp_path / "window.yaml"
    file.write_text(
        "name: custom/window\nintent: Customers learn of it.\n"
        "criterion: '{{response}} names the window.'\nscale:\n- {label: yes, score: 1}\n- {label: no, score: 0}\n"
    )
    ge = GenkitEval(plugins=[judges(judge=ScriptedModel('{"reason": "r", "label": "no"}'), own=[file])])

    (metric,) = await ge.score(data_point(output="Soon."), "custom/window")

    assert (metric.score, metric.details) == (0, {"label": "no"})


def test_all_files_of_a_folder_are_read_and_a_file_may_hold_several(tmp_path: Path) -> None:
    one, two, three = (document_of(own) for own in OWN[:3])
    (tmp_path / "one.yml").write_text(f"# yaml-language-server: $schema=x.json\n{evaluator_text(one)}")
    (tmp_path / "others.json").write_text(json.dumps([two, three]))
    (tmp_path / "notes.txt").write_text("no evaluator")
    (tmp_path / "evaluator.schema.json").write_text(json.dumps(document_schema()))

    ge = GenkitEval(plugins=[judges(judge="openai/x", own=[tmp_path])])

    assert {"custom/window", "a", "b"} <= ge.registry.evaluators.keys()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("name: a\nintent: i\n", "criterion: is missing"),
        ("name: a b\nintent: i\ncriterion: c\n", "name: expected letters, digits and _ . : - with / between them"),
        ("name: geval/a\nintent: i\ncriterion: c\n", "name: 'geval/a' is a name of kind geval: choose another one"),
        ("name: a\nintent: ' '\ncriterion: ''\n", "intent: is empty"),
        ("name: a\nintent: 5\ncriterion: c\n", "intent: expected text, found 5"),
        (
            "name: a\nintent: i\ncriterion: c\nthreshold: 7\n",
            "threshold: expected a number from 0 to 1, as scores are on every",
        ),
        ("name: a\nintent: i\ncriterion: c\ndemonstrations: {}\n", "expected a list, found an object"),
        (
            "name: a\nintent: i\ncriterion: c\nscale: binery\n",
            "scale: expected 'continuous' or 'binary', an object with low and high or a list, found 'binery'",
        ),
        (
            "name: a\nintent: i\ncriterion: c\nscale: {low: 2, high: 1}\n",
            "one.yaml: scale: the scale is empty: low is 2",
        ),
        (
            "name: a\nintent: i\ncriterion: c\nscale: [{label: a, score: 2}, {label: b}]\n",
            "one.yaml: scale[0].score: expected less than or equal to 1, found 2; scale[1].score: is missing",
        ),
        (
            "name: a\nintent: i\ncriterion: c\nvariables: [{nam: response}, {name: x, nearest: {show: [z]}}]\n",
            "variables[0]: unknown key 'nam': did you mean 'name'?; variables[1].nearest.dataset: is missing; "
            "variables[1].nearest.show[0]: expected 'input', 'reference', 'output' or 'context', found 'z'",
        ),
        (
            "name: a\nintent: i\ncriterion: c\nscale: [good, bad]\nanchors: [bad, good]\n",
            "one.yaml: scale[0]: expected an object with label and score, found 'good'; scale[1]: expected an object "
            "with label and score, found 'bad'; anchors: expected an object with low, middle and high, found a list",
        ),
        (
            "name: a\nintent: i\ncriterion: c\nscale: {min: 1, max: 5}\ndemonstrations: [{output: r, score: 2}]\n",
            "one.yaml: scale: unknown key 'min': defined are 'high', 'low'; demonstrations[0]: unknown key 'output': "
            "defined are 'justification', 'request', 'response', 'score'",
        ),
        ("name: a\nintent: i\ncriterion: c\nparameters: {a: .inf}\n", "parameters.a: expected a finite number"),
        (
            "name: a\nintent: i\ncriterion: c\nscale: {low: 1, high: 5}\ndemonstrations: [{response: r, score: 9}]\n",
            "demonstration 1 has the score 9, which is not on the scale: expected a number from 1 to 5",
        ),
        (
            "name: a\nintent: i\ncriterion: c\nscale: binary\ndemonstrations: [{response: r, score: 1}]\n",
            "demonstration 1 has the score 1, which is not on the scale: expected true or false",
        ),
        (
            "- {name: a, intent: i, criterion: c}\n- {name: b}\n",
            "one.yaml, evaluator 2 of 2: criterion: is missing; intent: is missing",
        ),
        ("name: a\nintent: i\ncriterion: c\ntreshold: 1\n", "unknown key 'treshold': did you mean 'threshold'"),
        ("kind: criterium\n", "unknown kind 'criterium': did you mean 'criterion'"),
        ("name: a\nintent: i\ncriterion: c\nvariables: [request]\n", "lack 'response'"),
        ("kind: geval\nname: a\nintent: i\ncriterion: c\n", "unknown key 'intent'"),
        ("- name: a\n  name: b\n", "line 2"),
        ("[]]", "line 1"),
        (
            "name: a\n---\nname: b\n",
            "line 2: not valid YAML: expected a single document in the stream, but found another",
        ),
        ("just text", "expected an object"),
        ("", "expected an object with name, intent and criterion, found nothing"),
        ("[]", "one.yaml holds no evaluator: its list is empty"),
        ("name: !!python/object:os.system a\n", "refused"),
    ],
)
def test_a_file_that_describes_none_is_refused_with_its_place(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "one.yaml"
    file.write_text(text)

    with pytest.raises(ConfigError) as refused:
        judges(judge="openai/x", own=[file])

    assert str(file) in str(refused.value)
    assert problem in str(refused.value)
    assert not re.search(r"Input|literal|function-|constrained|[Tt]uple", str(refused.value))


@pytest.mark.parametrize("own", OWN, ids=lambda own: own.name)
def test_whatever_stands_in_a_document_it_is_read_or_refused_in_words_of_yaml(own: Criterion | GEval) -> None:
    for wrong in with_one_value_replaced(document_of(own)):
        try:
            own_of(wrong)
        except ConfigError as problem:
            found = re.search(r"Input|literal|function-|constrained|[Tt]uple|pydantic|parse|valid", str(problem))
            assert found is None, problem  # noqa: PT017 - some are read


def test_what_is_neither_data_nor_a_path_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"'tone\.yaml' is str"):
        judges(own=["tone.yaml"])  # type: ignore[list-item]  # what a user may try


@pytest.mark.parametrize("own", ["tone.yaml", Path("tone.yaml"), OWN[1], OWN[-1]], ids=lambda own: type(own).__name__)
def test_one_that_is_in_no_list_is_refused(own: Any) -> None:
    with pytest.raises(ConfigError, match=r"own is a \w+: give a list"):
        judges(own=own)


def test_a_folder_without_any_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no file of an evaluator"):
        judges(own=[tmp_path])


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.yaml"):
        judges(own=[tmp_path / "gone.yaml"])


# --- the schema ---------------------------------------------------------------------------------------------------


def test_the_schema_is_published_with_the_plugin() -> None:
    """`genkit-eval evaluator schema -o plugins/genkit_eval_judges/evaluator.schema.json` writes it anew."""
    file = Path(genkit_eval_judges.__file__).parent / "evaluator.schema.json"

    assert json.loads(file.read_text(encoding="utf-8")) == document_schema()


@pytest.mark.parametrize("document", [document_of(own) for own in OWN], ids=lambda document: document["name"])
def test_the_schema_takes_what_we_write(document: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator.check_schema(document_schema())

    jsonschema.validate(document, document_schema())


@pytest.mark.parametrize(
    "change",
    [
        {"treshold": 0.4},
        {"threshold": 2},
        {"scale": "ternary"},
        {"criterion": " "},
        {"variables": ["no name"]},
        {"name": "../a"},
    ],
)
def test_the_schema_and_the_reader_refuse_the_same(change: dict[str, Any]) -> None:
    document = {"name": "a", "intent": "i", "criterion": "c", **change}

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, document_schema())
    with pytest.raises(ConfigError):
        own_of(document)


def test_what_is_said_in_code_is_checked_as_in_files() -> None:
    with pytest.raises(ValidationError):
        Criterion(name="a", intent="i", criterion="c", variables=("no name",))


@pytest.mark.parametrize("name", ["custom/window", "window", "geval/coherence", "custom/on.1:30", "true"])
def test_a_starter_is_an_evaluator_of_its_name(name: str) -> None:
    document = parse_yaml(starter_text(name))

    assert own_of(document).evaluator == name
    jsonschema.validate(document, document_schema())


@pytest.mark.parametrize("rubric", RUBRICS, ids=lambda rubric: rubric.name)
def test_a_quality_is_a_criterion_too(rubric: Rubric) -> None:
    criterion = as_criterion(rubric)

    assert own_of(parse_yaml(evaluator_text(document_of(criterion)))) == criterion
    assert {variable.name for variable in criterion.shown} == {*rubric.needs, *rubric.shows}
    assert {variable.name for variable in criterion.shown if variable.required} == set(rubric.needs)
    told = [example for example in rubric.examples if example.given.startswith(("Request: ", "Answer: "))]
    assert [item.score for item in criterion.demonstrations] == [example.rating for example in told]


# --- the folder ---------------------------------------------------------------------------------------------------


def kept(folder: Path, *own: Criterion | GEval) -> None:
    for item in own:
        write_evaluator(folder / file_name(item.evaluator), evaluator_text(document_of(item)))


def test_evaluators_of_a_folder_are_defined_and_what_is_wrong_is_told(tmp_path: Path) -> None:
    kept(tmp_path, FULL, OWN[4])
    (tmp_path / "broken.yaml").write_text("name: x\n")
    registry = GenkitEval(plugins=[judges(judge="openai/x", embedder="openai/e")]).registry

    (problem,) = load_evaluators(registry, tmp_path)

    assert "broken.yaml is left out: criterion: is missing; intent: is missing" in problem
    assert registry.evaluator("custom/window").models["judge"] == "openai/x"
    assert registry.evaluator("geval_coherence").metadata["document"] == document_of(OWN[4])


def test_what_an_app_defines_goes_before_what_a_folder_keeps(tmp_path: Path) -> None:
    kept(tmp_path, FULL, OWN[1])
    other = OWN[1].model_copy(update={"criterion": "another"})
    registry = GenkitEval(plugins=[judges(judge="openai/y", own=[FULL, other])]).registry

    (problem,) = load_evaluators(registry, tmp_path)

    assert "'a' is defined otherwise" in problem


def test_a_folder_without_a_plugin_for_it_is_left_alone(tmp_path: Path) -> None:
    kept(tmp_path, FULL)

    assert load_evaluators(GenkitEval().registry, tmp_path) == []


def test_a_file_is_not_written_over_by_mistake(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "a.yaml"
    write_evaluator(file, "one")
    write_evaluator(file, "one")

    with pytest.raises(ConfigError, match="says something else"):
        write_evaluator(file, "two")

    write_evaluator(file, "two", replace=True)
    assert [(item.file, item.value) for item in read_evaluators(file)] == [(file, "two")]
