"""What a judge reads of a data point."""

from __future__ import annotations

import anyio
import pytest

from genkit_eval import DataPoint
from genkit_eval.errors import DataError
from genkit_eval_metrics.reading import NothingToJudge, ReadingOptions, Texts, read


def texts_of(point: DataPoint, *, needs: tuple[str, ...] = (), **options: str) -> Texts:
    return anyio.run(lambda: read(point, ReadingOptions(**options), needs=needs))


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        ("At nine.", "At nine."),
        ({"answer": "At nine.", "context": ["c"]}, "At nine."),
        ({"answer": {"hour": 9}}, '{"hour":9}'),
        ({"text": "At nine."}, '{"text":"At nine."}'),
        ([1, 2], "[1,2]"),
        (0, "0"),
        (False, "false"),
        (None, ""),
        ({"answer": None}, ""),
        ({}, ""),
    ],
)
def test_an_answer_is_the_output_or_what_it_has_under_answer(output: object, answer: str) -> None:
    assert texts_of(DataPoint(output=output)).answer == answer


def test_a_question_is_the_input_or_what_it_has_under_question() -> None:
    assert texts_of(DataPoint(input={"question": "When?", "user": 7})).question == "When?"
    assert texts_of(DataPoint(input={"q": "When?"})).question == '{"q":"When?"}'


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ("as it is", "as it is"),
        ({"text": "its text", "id": 1}, "its text"),
        ({"content": "its content"}, "its content"),
        ({"page_content": "a page"}, "a page"),
        ({"content": [{"text": "one"}, {"media": {"url": "x"}}, {"text": "two"}], "metadata": {}}, "one\ntwo"),
        ({"content": [{"media": {"url": "x"}}]}, '{"content":[{"media":{"url":"x"}}]}'),
        ({"title": "no text"}, '{"title":"no text"}'),
        (None, ""),
        (7, "7"),
    ],
)
def test_a_document_is_its_text_without_quotes(document: object, text: str) -> None:
    assert texts_of(DataPoint(context=[document])).context == (text,)


@pytest.mark.parametrize(
    ("fields", "context"),
    [
        ({"context": ["own"], "input": {"context": ["input"]}, "output": {"context": "output"}}, ("own",)),
        ({"input": {"context": ["input", "two"]}, "output": {"context": "output"}}, ("input", "two")),
        ({"input": "q", "output": {"answer": "a", "context": "output"}}, ("output",)),
        ({"context": [], "output": {"context": ["output"]}}, ("output",)),
        ({"input": "q"}, ()),
    ],
)
def test_the_context_is_that_of_the_point_then_of_input_then_of_output(
    fields: dict[str, object], context: tuple[str, ...]
) -> None:
    assert texts_of(DataPoint(**fields)).context == context


def test_expressions_pick_from_the_data_point() -> None:
    point = DataPoint(
        input={"messages": [{"role": "user", "text": "When?"}]},
        output={"reply": "At nine.", "sources": [{"text": "one"}, {"text": "two"}]},
        reference={"best": "nine"},
    )

    texts = texts_of(
        point,
        question="input.messages[-1].text",
        answer="output.reply",
        context="output.sources.text",
        reference="reference.best",
    )

    assert texts == Texts(question="When?", answer="At nine.", context=("one", "two"), reference="nine")


def test_an_expression_that_finds_nothing_leaves_nothing_to_judge() -> None:
    with pytest.raises(NothingToJudge, match="output is empty"):
        texts_of(DataPoint(output={"reply": "x"}), answer="output.answer", needs=("answer",))


def test_an_expression_may_pick_more_than_a_score_would_keep() -> None:
    long = "word " * 20_000

    assert texts_of(DataPoint(output={"reply": long}), answer="output.reply").answer == long


@pytest.mark.parametrize("expression", ["output.(", "$error('no')", "1 + 'a'"])
def test_a_wrong_expression_is_an_error_that_quotes_it(expression: str) -> None:
    with pytest.raises(DataError, match="JSONata") as caught:
        texts_of(DataPoint(output="x"), answer=expression)

    assert expression in str(caught.value)


def test_the_data_point_is_left_as_it_was() -> None:
    point = DataPoint(output={"sources": [{"text": "one"}]}, context=[{"text": "two"}])
    before = point.to_json()

    texts_of(point, context="output.sources ~> |$|{'text': 'other'}|")

    assert point.to_json() == before
