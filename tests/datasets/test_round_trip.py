"""What is written is read back, in every format; and checking costs little memory."""

from __future__ import annotations

import gc
import io
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genkit_eval.datasets import check_file, encode_samples, read_samples, write_samples
from genkit_eval.errors import ConfigError, DataFileError
from genkit_eval.types import Expect, Sample, ToolCall, Turn

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


def optional(**fields: st.SearchStrategy[object]) -> st.SearchStrategy[Sample]:
    return st.fixed_dictionaries({"input": fields.pop("input")}, optional=fields).map(Sample.model_validate)


ANY = optional(
    input=JSON,
    test_case_id=TEXT,
    reference=JSON,
    output=JSON,
    context=st.lists(JSON, max_size=2),
    custom=st.dictionaries(TEXT, JSON, max_size=2),
    tags=st.lists(TEXT, max_size=2),
    expect=st.builds(Expect, label=TEXT, phrases=st.lists(TEXT, max_size=2)),
    plan=TEXT | st.lists(TEXT, max_size=2),
    turns=st.lists(st.builds(Turn, role=TEXT, content=JSON), max_size=1),
    tools=st.lists(st.builds(ToolCall, name=TEXT, arguments=JSON), max_size=1),
)
FOR_CELLS = optional(
    input=TEXT.filter(bool),
    test_case_id=TEXT.filter(bool),
    reference=TEXT.filter(bool),
    context=st.lists(JSON, max_size=2),
    custom=st.dictionaries(TEXT, JSON, max_size=2),
    latency=st.floats(0, 1e9),
)


def round_trip(samples: list[Sample], name: str) -> list[Sample]:
    with TemporaryDirectory() as folder:
        write_samples(Path(folder) / name, samples)
        return list(read_samples(Path(folder) / name))


@pytest.mark.case("data-file/big-integers")
@given(samples=st.lists(ANY, max_size=4))
@pytest.mark.parametrize("name", ["d.json", "d.jsonl", "d.yaml"])
def test_any_samples_are_read_back_as_written(name: str, samples: list[Sample]) -> None:
    found = round_trip(samples, name)

    # as text, because 1 == 1.0 == True
    assert [json.dumps(sample.to_json()) for sample in found] == [json.dumps(sample.to_json()) for sample in samples]


@given(samples=st.lists(FOR_CELLS, min_size=1, max_size=4))
@pytest.mark.parametrize("name", ["d.csv", "d.tsv"])
def test_samples_of_text_are_read_back_from_cells(name: str, samples: list[Sample]) -> None:
    found = round_trip(samples, name)

    assert [json.dumps(sample.to_json()) for sample in found] == [json.dumps(sample.to_json()) for sample in samples]


@given(value=JSON, pretty=st.booleans())
def test_quick_and_careful_reading_agree(value: object, pretty: bool) -> None:
    text = json.dumps([{"input": value, "reference": value}], indent=2 if pretty else None, ensure_ascii=pretty)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "d.json"
        path.write_text(text, encoding="utf-8")

        sample = next(read_samples(path))

    assert json.dumps(sample.input) == json.dumps(value)
    assert sample.reference == sample.input


PIECES = ["a", "é", "\\u00e9", '\\"', "\\\\", "\\u0022", "\\\\u0022", "\\u005c", '\\":', "/", "\\/", "9" * 20]
STRINGS = st.lists(st.sampled_from(PIECES), max_size=3).map(lambda parts: f'"{"".join(parts)}"')
NUMBERS = st.sampled_from(["1", "1e2", "0.12345678901234567890123", str(2**64), str(2**64 - 1), str(-(2**63) - 1)])
COLONS = st.sampled_from([":", " : "])
JSON_TEXT = st.recursive(
    STRINGS | NUMBERS | st.just("null"),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda parts: f"[{','.join(parts)}]")
        | st.lists(st.tuples(STRINGS, COLONS, inner).map("".join), max_size=3).map(
            lambda parts: f"{{{', '.join(parts)}}}"
        )
    ),
    max_leaves=10,
)


@given(texts=st.lists(JSON_TEXT, min_size=1, max_size=3))
@pytest.mark.case("data-file/duplicate-json-keys")
@pytest.mark.parametrize("format", ["json", "jsonl"])
def test_no_repeated_key_and_no_digit_is_ever_lost(format: str, texts: list[str]) -> None:
    repeated = []

    def noted(pairs: list[tuple[str, object]]) -> dict[str, object]:
        repeated.extend([None] * (len(pairs) - len(dict(pairs))))
        return dict(pairs)

    expected = [json.loads(text, object_pairs_hook=noted) for text in texts]
    rows = [f'{{"input":{text}}}' for text in texts]
    data = "\n".join(rows) if format == "jsonl" else f"[{','.join(rows)}]"

    stream = read_samples(io.BytesIO(data.encode()), format=format)
    if repeated:
        with pytest.raises(DataFileError, match="is given twice"):
            list(stream)
    else:
        assert json.dumps([sample.input for sample in stream]) == json.dumps(expected)


def test_a_writer_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text("old")

    def samples() -> object:
        yield Sample(input=1)
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError):
        write_samples(path, samples())  # type: ignore[arg-type]

    assert [entry.read_text() for entry in tmp_path.iterdir()] == ["old"]


def test_the_format_comes_from_the_name_or_is_given(tmp_path: Path) -> None:
    write_samples(tmp_path / "a.ndjson", [Sample(input=1)])
    write_samples(tmp_path / "b.txt", [Sample(input=1)], format="JSONL")

    assert (tmp_path / "a.ndjson").read_bytes() == (tmp_path / "b.txt").read_bytes() == b'{"input":1}\n'
    with pytest.raises(ConfigError, match="the format cannot be told"):
        write_samples(tmp_path / "c.txt", [])


def test_encoded_samples_come_in_large_pieces() -> None:
    pieces = list(encode_samples([Sample(input="x" * 1000)] * 1000, format="jsonl"))

    assert len(pieces) < 20
    assert b"".join(pieces).count(b"\n") == 1000


@pytest.mark.case("data-file/empty-dataset")
@pytest.mark.parametrize(
    ("name", "text"), [("d.json", "[]"), ("d.jsonl", "\n\n"), ("d.csv", "input\n"), ("e.json", '{"samples":[]}')]
)
def test_a_file_without_samples_is_refused_when_checked(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)

    with pytest.raises(DataFileError, match=f"{name}: holds no samples"):
        check_file(tmp_path / name)


def test_reading_leaves_the_collector_as_it_was(tmp_path: Path) -> None:
    write_samples(tmp_path / "d.json", [Sample(input=1)])

    list(read_samples(tmp_path / "d.json"))
    on = gc.isenabled()
    gc.disable()
    try:
        list(read_samples(tmp_path / "d.json"))
        off = gc.isenabled()
    finally:
        gc.enable()

    assert (on, off) == (True, False)


@pytest.mark.parametrize("name", ["d.jsonl", "d.csv"])
def test_checking_a_large_file_takes_little_memory(tmp_path: Path, name: str) -> None:
    code = (
        "import resource, sys\n"
        "from genkit_eval.datasets import check_file\n"
        "check_file('small-' + sys.argv[1])\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "count = check_file(sys.argv[1]).count\n"
        "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / count)"
    )
    count = 30_000
    samples = [Sample.trusted({"test_case_id": f"case-{number}", "input": "x" * 300}) for number in range(count)]
    write_samples(tmp_path / name, samples)
    write_samples(tmp_path / f"small-{name}", samples[:2])

    done = subprocess.run(
        [sys.executable, "-c", code, name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
        check=True,
    )

    # the pieces that are read take some megabytes, whatever the size of the file
    assert float(done.stdout) <= 100 + 8_000_000 / count
