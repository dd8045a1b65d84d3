"""JSON Schemas of inputs and references."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from genkit_eval.datasets import check_file, check_schema, parse_schema
from genkit_eval.errors import ConfigError, DataFileError
from genkit_eval.stored import DatasetSchema
from genkit_eval.types import Sample

QUESTION = DatasetSchema(
    input_schema={
        "type": "object",
        "properties": {"q": {"type": "string"}, "n": {"type": "array", "items": {"type": "integer"}}},
        "required": ["q"],
    },
    reference_schema={"type": "string", "minLength": 1},
)


def refused(samples: list[Sample], schema: DatasetSchema = QUESTION) -> str:
    with pytest.raises(DataFileError) as caught:
        check_schema(samples, schema, source="faq")
    return str(caught.value)


def test_samples_that_fit_pass() -> None:
    check_schema([Sample(input={"q": "a", "n": [1]}, reference="b"), Sample(input={"q": ""})], QUESTION, source="faq")


def test_every_problem_of_a_sample_is_named_with_its_field() -> None:
    message = refused([Sample(input={"q": "a"}), Sample(test_case_id="x", input={"q": 1, "n": [1, "2"]}, reference="")])

    assert "faq: 3 problems" in message
    assert "sample 2 ('x'), input.q: 1 is not of type 'string'" in message
    assert "sample 2 ('x'), input.n[1]: '2' is not of type 'integer'" in message
    assert "sample 2 ('x'), reference: '' should be non-empty" in message


def test_an_input_that_is_missing_does_not_fit() -> None:
    assert "sample 1, input: is missing" in refused([Sample(output="x")])


def test_samples_beyond_the_first_twenty_are_counted() -> None:
    message = refused([Sample(input=1)] * 50)

    assert "50 problems" in message
    assert "and 30 more" in message


def test_a_schema_that_is_no_object_is_refused_with_its_key() -> None:
    with pytest.raises(ConfigError, match="a dataset's schema: inputSchema: expected an object, found 'text'"):
        parse_schema({"inputSchema": "text"})


def test_a_schema_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="the input schema is no JSON Schema: 'txt' is not valid"):
        check_schema([], DatasetSchema(input_schema={"type": "txt"}), source="faq")


def test_a_schema_never_fetches_another() -> None:
    schema = DatasetSchema(input_schema={"$ref": "http://127.0.0.1:9/schema.json"})

    with pytest.raises(ConfigError, match=r"refers to 'http://127\.0\.0\.1:9/schema\.json'"):
        check_schema([Sample(input=1)], schema, source="faq")


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("d.json", '[{"input":{"q":"a"}},\n{"input":{"q":1}}]', 2),
        ("d.jsonl", '{"input":{"q":"a"}}\n\n{"input":{"q":1}}\n', 3),
        ("d.csv", 'input\n"{""q"":""a""}"\n"{""q"":1}"\n', 3),
        ("d.yaml", "- input: {q: a}\n- input: {q: 1}\n", 2),
    ],
)
def test_a_file_is_checked_against_a_schema_with_lines(tmp_path: Path, name: str, text: str, line: int) -> None:
    path = tmp_path / name
    path.write_text(text)

    with pytest.raises(DataFileError, match=rf"{name}: line {line}, sample 2, input\.q: 1 is not of type 'string'"):
        check_file(path, schema=QUESTION)


def test_without_the_library_the_extra_is_named(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['jsonschema'] = None\n"
        "from genkit_eval.datasets import check_schema\n"
        "from genkit_eval.stored import DatasetSchema\n"
        "check_schema([], DatasetSchema(input_schema={}), source='x')"
    )

    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
        check=False,
    )

    assert done.returncode == 1
    assert "pip install 'genkit-eval[schema]'" in done.stderr


EVIL = "^(a|aa)+$"


@pytest.mark.case("regex/redos-nested-quantifier")
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"q": {"pattern": EVIL}}},
        {"additionalProperties": False, "patternProperties": {EVIL: {}}},
        {"patternProperties": {EVIL: {"type": "string"}}},
    ],
    ids=["pattern", "additional", "patternProperties"],
)
def test_a_pattern_that_runs_wild_is_stopped(schema: dict[str, object]) -> None:
    long = "a" * 60 + "!"

    with pytest.raises(
        ConfigError, match=r"input schema's pattern '\^\(a\|aa\)\+\$' took more than 1 s on 61 characters"
    ):
        check_schema([Sample(input={"q": long, long: 1})], DatasetSchema(input_schema=schema), source="faq")


def test_patterns_of_keys_and_texts_are_checked() -> None:
    schema = DatasetSchema(
        input_schema={
            "properties": {"q": {"pattern": "^w"}},
            "patternProperties": {"^x-": {"type": "integer"}},
            "additionalProperties": False,
        }
    )

    check_schema([Sample(input={"q": "why", "x-1": 1})], schema, source="faq")
    message = refused([Sample(input={"q": "how", "x-1": "1", "y": 2})], schema)

    assert "input.q: 'how' does not match '^w'" in message
    assert "input.x-1: '1' is not of type 'integer'" in message
    assert "'y' was unexpected" in message


def test_a_schema_that_refers_to_itself_without_end_is_refused() -> None:
    with pytest.raises(ConfigError, match="refers to itself without end"):
        check_schema([Sample(input=1)], DatasetSchema(input_schema={"$ref": "#"}), source="faq")


def test_a_json_schema_by_itself_is_no_dataset_schema() -> None:
    with pytest.raises(ConfigError, match="'inputSchema' and 'referenceSchema', found 'type': put a JSON Schema under"):
        parse_schema({"type": "object"})


def test_both_spellings_of_the_keys_are_read() -> None:
    assert parse_schema({"inputSchema": {"type": "string"}}) == parse_schema({"input_schema": {"type": "string"}})
