"""YAML datasets."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from genkit_eval.datasets import check_file, read_samples, write_samples
from genkit_eval.datasets.yaml_files import parse_yaml, write_yaml, yaml_text
from genkit_eval.errors import DataFileError
from genkit_eval.types import Sample


def samples(text: str | bytes) -> list[Sample]:
    stream = io.BytesIO(text.encode() if isinstance(text, str) else text)
    return list(read_samples(stream, format="yaml"))


def refused(text: str | bytes) -> str:
    with pytest.raises(DataFileError) as caught:
        samples(text)
    return str(caught.value)


def test_a_list_of_samples_is_read() -> None:
    found = samples("- testCaseId: a\n  input: {q: 1}\n  tags: [x, y]\n- input: |\n    two\n    lines\n")

    assert found[0].to_json() == {"testCaseId": "a", "input": {"q": 1}, "tags": ["x", "y"]}
    assert found[1].input == "two\nlines\n"


def test_a_mapping_with_samples_is_read() -> None:
    assert [sample.input for sample in samples("\ufeffname: x\nsamples:\n  - input: 1\n")] == [1]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2024-01-05", "2024-01-05"),
        ("2024-01-05T10:00:00Z", "2024-01-05T10:00:00Z"),
        ("no", "no"),
        ("Yes", "Yes"),
        ("on", "on"),
        ("1:30", "1:30"),
        ("1_000", "1_000"),
        ("=", "="),
        ("true", True),
        ("null", None),
        ("~", None),
        ("", None),
        ("12", 12),
        ("-7", -7),
        ("0o17", 15),
        ("0x1F", 31),
        ("010", 10),
        ("1e3", 1000.0),
        ("-.5", -0.5),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("'12'", "12"),
        ("!!str 12", "12"),
    ],
)
def test_scalars_have_the_types_of_yaml_1_2(text: str, value: object) -> None:
    found = samples(f"- input: {text}\n")[0].input

    assert found == value
    assert type(found) is type(value)


@pytest.mark.case("security/yaml-object-tag")
@pytest.mark.parametrize(
    "tag",
    [
        "!!python/object/apply:os.getcwd []",
        "!!python/name:os.system",
        "!!binary aGk=",
        "!!timestamp 2024-01-01",
        "!mine 1",
    ],
)
def test_tags_are_refused(tag: str) -> None:
    message = refused(f"- input: 1\n- input: 2\n  reference: {tag}\n")

    assert "line 3, sample 2, reference: the tag '" in message
    assert "is refused" in message


def test_a_shared_value_is_read_at_each_place() -> None:
    found = samples("- input: 1\n  context: &c [a, {b: 2}]\n- input: 2\n  context: *c\n")

    assert found[1].context == ["a", {"b": 2}]


def test_aliases_that_unfold_without_end_are_refused() -> None:
    levels = "\n".join(f"    - &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 12))

    message = refused(f"- input:\n    - &l0 [x]\n{levels}\n")

    assert "aliases unfold to more than 100000 values" in message


def test_an_alias_of_itself_is_refused() -> None:
    assert "alias of itself" in refused("- input: &a [*a]\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- input: 1\n  input: 2\n", "line 2, sample 1: key 'input' is given twice"),
        ("- input: {a: {k: 1, k: 2}}\n", "line 1, sample 1, input.a: key 'k' is given twice"),
        ("samples: []\nsamples: []\n", "line 2: key 'samples' is given twice"),
        ("- input: {1: a}\n", "a key must be text, found a number"),
        ("- input: {[1]: a}\n", "a key must be text, found a list"),
        ("- &a {input: 1}\n- <<: *a\n", "line 2, sample 2: the merge key '<<' is not read"),
        ("- input: .nan\n", "line 1, sample 1, input: NaN"),
        ("- input: -.Inf\n", "line 1, sample 1, input: NaN"),
        ("- input: 1e999\n", "line 1, sample 1, input: NaN"),
        ("- input: !!int x\n", "'x' is no int"),
        ("- input: !!bool x\n", "'x' is no bool"),
        ("- input: " + "1" * 5000 + "\n", "is no int"),
        ("- testCaseId: 007\n  input: 1\n", "testCaseId: expected text, found a number: put it in quotes"),
        ("- input: [1\n- a\n", "not valid YAML"),
        (
            "- input: 1\n---\n- input: 2\n",
            "not valid YAML: expected a single document in the stream, but found another",
        ),
        ("- input: *x\n", "found undefined alias"),
        ("- input: \x01\n", "not valid YAML"),
        ("- input: " + "[" * 300 + "]" * 300 + "\n", "nested deeper than 250 levels"),
        ("- text\n", "line 1, sample 1: expected an object, found text"),
        ("", "expected a list of samples"),
        ("just text", "line 1: expected a list of samples"),
        ("name: x\n", "expected a list of samples, or a mapping with the list 'samples'"),
        ("samples: 3\n", "expected a list of samples"),
    ],
)
def test_what_is_wrong_is_named(text: str, message: str) -> None:
    assert message in refused(text)


@pytest.mark.case("data-file/wrong-encoding")
def test_bytes_that_are_no_utf8_are_named() -> None:
    assert "line 2: byte 20 (0xe9) is not UTF-8" in refused(b"- input: 1\n- input: \xe9\n")


def test_text_that_yaml_could_misread_is_quoted(tmp_path: Path) -> None:
    words = [
        "no",
        "1e5",
        "0o7",
        "2024-01-05",
        "1:30",
        "null",
        "",
        "~",
        "<<",
        "=",
        "- a",
        "#",
        "a: b",
        " x ",
        "\t",
        "\u2028",
        "a\r\nb",
    ]
    given = [Sample(test_case_id=f"{number}", input=word, custom={word: word}) for number, word in enumerate(words)]

    write_samples(tmp_path / "d.yaml", given)

    assert list(read_samples(tmp_path / "d.yaml")) == given


def test_no_samples_are_an_empty_list(tmp_path: Path) -> None:
    write_samples(tmp_path / "d.yml", [])

    assert list(read_samples(tmp_path / "d.yml")) == []
    with pytest.raises(DataFileError, match="holds no samples"):
        check_file(tmp_path / "d.yml")


def test_an_alias_of_itself_is_refused_in_a_message_of_readable_length() -> None:
    message = refused("- &a\n  input: [*a]\n")

    assert "an alias of itself" in message
    assert len(message) < 400


@pytest.mark.parametrize("text", ["a\u2028b", "a\u2029\nb", "\u2028", "a \u2028 b\n"])
def test_a_break_of_yaml_1_1_alone_is_escaped(text: str) -> None:
    """In YAML 1.2 it is a letter like others, so the spaces after it would be read as the text's."""
    written = [b"".join(write_yaml([Sample(input={text: text})])).decode(), yaml_text({text: text})]

    assert not any(letter in "\u2028\u2029" for line in written for letter in line)
    assert parse_yaml(written[1]) == {text: text}
