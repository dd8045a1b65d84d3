"""What the claims of an answer stand on, claim by claim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from genkit_eval import Message, Outcome, Status
from genkit_eval.errors import ModelError
from tests.plugins.judges.replies import grades, statements

CLAIMS = statements("The pool opens at seven.", "Children swim free.", "There is a sauna.")
GIVEN = {"output": "At seven; children are free; there is a sauna.", "context": ["Pool: from 7.", "Children: free."]}
BOTH = pytest.mark.parametrize("name", ["quality/faithfulness", "quality/truthfulness"])


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "words", "score"),
    [
        ("quality/faithfulness", ("supported", "supported", "supported"), 1.0),
        ("quality/faithfulness", ("supported", "absent", "supported"), 2 / 3),
        ("quality/faithfulness", ("supported", "contradicted", "supported"), 2 / 3),
        ("quality/faithfulness", ("supported", "partly", "absent"), 1.5 / 3),
        ("scorable/Faithfulness", ("contradicted", "absent", "absent"), 0.0),
        ("quality/truthfulness", ("documented", "known", "documented"), 1.0),
        ("quality/truthfulness", ("documented", "known", "false"), 2 / 3),
        ("quality/truthfulness", ("documented", "open", "false"), 1.5 / 3),
        ("scorable/Truthfulness", ("false", "false", "false"), 0.0),
    ],
)
async def test_the_score_is_the_mean_of_what_grades_are_worth(
    judged: Any, name: str, words: Sequence[str], score: float
) -> None:
    metric, model = await judged(name, [CLAIMS, grades(*words)], **GIVEN)

    assert metric.score == pytest.approx(score)
    assert metric.status is (Status.PASS if score >= 0.5 else Status.FAIL)
    assert [finding.category for finding in metric.findings] == [*words]
    assert len(model.calls) == 2


@pytest.mark.anyio
async def test_findings_and_reason_tell_which_claim_is_which(judged: Any) -> None:
    metric, _ = await judged("quality/faithfulness", [CLAIMS, grades("supported", "partly", "contradicted")], **GIVEN)

    assert metric.rationale == (
        "of 3 claims: 1 supported, 1 contradicted, 1 partly; contradicted: There is a sauna. reason 3"
    )
    assert [finding.passed for finding in metric.findings] == [True, None, False]
    assert metric.findings[1].text == "Children swim free."
    assert metric.findings[1].reason == "reason 2"


@pytest.mark.anyio
async def test_what_an_open_claim_is_worth_is_an_option(judged: Any) -> None:
    said = [CLAIMS, grades("documented", "open", "open")]

    strict, _ = await judged("quality/truthfulness", said, options={"unverifiable": 0.0}, **GIVEN)
    usual, _ = await judged("quality/truthfulness", said, **GIVEN)

    assert strict.score == pytest.approx(1 / 3)
    assert usual.score == pytest.approx(2 / 3)


@pytest.mark.anyio
async def test_truth_needs_no_documents_and_faith_does(judged: Any) -> None:
    truth, model = await judged("quality/truthfulness", [CLAIMS, grades("known", "known", "open")], output="At 7.")
    faith, silent = await judged("quality/faithfulness", [], output="At 7.", context=["", " "])

    assert truth.score == pytest.approx(2.5 / 3)
    assert "Documents: (none)" in model.calls[1].messages[-1].content
    assert faith.outcome is Outcome.INCONCLUSIVE
    assert silent.calls == []


@pytest.mark.anyio
@BOTH
@pytest.mark.case("judge-metric/empty-output-no-judge-call")
async def test_an_empty_answer_costs_no_call(judged: Any, name: str) -> None:
    metric, model = await judged(name, [], output=" ", context=["Pool: from 7."])

    assert metric.outcome is Outcome.INCONCLUSIVE
    assert model.calls == []


@pytest.mark.anyio
@BOTH
@pytest.mark.case("judge-metric/zero-claims")
async def test_an_answer_without_claims_is_inconclusive_unless_an_option_says_otherwise(judged: Any, name: str) -> None:
    ours, model = await judged(name, [statements()], **GIVEN)
    told, _ = await judged(name, [statements()], options={"on_empty": 1.0}, **GIVEN)

    assert ours.outcome is Outcome.INCONCLUSIVE
    assert len(model.calls) == 1
    assert (told.score, told.status) == (1.0, Status.PASS)


@pytest.mark.anyio
@pytest.mark.case("judge-metric/fewer-verdicts-than-claims")
async def test_claims_without_a_grade_are_asked_about_once_more(judged: Any) -> None:
    again, model = await judged(
        "quality/faithfulness", [CLAIMS, grades("absent"), grades("supported", "absent")], **GIVEN
    )
    never, _ = await judged("quality/faithfulness", [CLAIMS, grades("supported"), grades()], **GIVEN)

    assert again.score == pytest.approx(1 / 3)
    assert "1. Children swim free." in model.calls[2].messages[-1].content
    assert never.outcome is Outcome.FAILED


@pytest.mark.anyio
@pytest.mark.case("judge-reply/verdict-out-of-vocabulary")
async def test_a_word_that_is_no_grade_is_no_answer(judged: Any) -> None:
    metric, model = await judged(
        "quality/faithfulness", [CLAIMS, *2 * [grades("supported", "sort of", "absent")]], **GIVEN
    )

    assert metric.outcome is Outcome.FAILED
    assert "sort of" in metric.error
    assert len(model.calls) == 3


@pytest.mark.anyio
async def test_more_claims_than_fit_into_a_reply_are_graded_in_groups(judged: Any) -> None:
    many = statements(*(f"Claim {number}." for number in range(25)))
    replies = [many, grades(*20 * ["supported"]), grades(*5 * ["absent"])]

    metric, model = await judged("quality/faithfulness", replies, **GIVEN)

    assert metric.score == pytest.approx(20 / 25)
    assert len(model.calls) == 3
    assert metric.findings[24].text == "Claim 24."


@pytest.mark.anyio
async def test_documents_too_long_for_the_judge_are_read_in_parts(judged: Any) -> None:
    def reply(messages: Sequence[Message]) -> str | Exception:
        shown = messages[-1].content
        if "Assertions:" not in shown:
            return CLAIMS
        if shown.count("Document:") > 1:
            return ModelError("too long", kind="window")
        # what the first document says is not asked of the second
        return grades("supported", "absent", "absent") if "from 7" in shown else grades("partly", "contradicted")

    long = [f"{document} {'x' * 100}" for document in GIVEN["context"]]
    metric, _ = await judged("quality/faithfulness", reply, **{**GIVEN, "context": long})

    assert [finding.category for finding in metric.findings] == ["supported", "partly", "contradicted"]
    assert metric.details == {"evidenceParts": 2}


@pytest.mark.anyio
async def test_a_document_too_long_by_itself_is_refused(judged: Any) -> None:
    def reply(messages: Sequence[Message]) -> str | Exception:
        return ModelError("too long", kind="window") if "Assertions:" in messages[-1].content else CLAIMS

    metric, _ = await judged("quality/faithfulness", reply, output="At 7.", context=["Pool: from 7."])

    assert metric.outcome is Outcome.FAILED
    assert "too long" in metric.error
