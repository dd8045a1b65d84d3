"""One score out of several answers of a judge to the same question.

Numbers become their median. A verdict (PASS, FAIL, undecided, inconclusive), a boolean or a label is what most answers
say; where several are said equally often, the answer is UNDECIDED. Answers that FAILED are left out, unless all did.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from pydantic import JsonValue

from genkit_eval.stats.moments import median, spread
from genkit_eval.types import Outcome, Score, Status

__all__ = ["agreed"]

_WHOLE = (Outcome.FAILED, Outcome.INCONCLUSIVE)
_Stand = tuple[Outcome, Status, object]


def agreed(answers: Sequence[Sequence[Score]]) -> list[Score]:
    """The scores that several answers come to, one for each score id; each answer is one call's scores.

    Every single score stands in the details under `judgeRepeats`, with the standard deviation of the numbers.
    """
    ids = dict.fromkeys(score.id for answer in answers for score in answer if not _is_whole(score)) or {None: None}
    return [_agreed([_of_id(answer, score_id) for answer in answers], score_id) for score_id in ids]


def _is_whole(score: Score) -> bool:
    """Whether it says that the call as a whole gave nothing: then it stands under every score id."""
    return score.id is None and score.outcome in _WHOLE


def _of_id(answer: Sequence[Score], score_id: str | None) -> Score:
    for score in answer:
        if score.id == score_id or _is_whole(score):
            return score
    return Score.inconclusive(reason=f"this answer has no score '{score_id}'")


def _agreed(scores: Sequence[Score], score_id: str | None) -> Score:
    usable = [score for score in scores if score.outcome is not Outcome.FAILED]
    numbers = [number for score in usable if (number := _number(score.score)) is not None]
    repeats = _repeats(scores, numbers)
    if not usable:
        return Score.broke(_errors(scores), id=score_id, details={"judgeRepeats": repeats})
    middle = median(numbers) if numbers else None
    stands = Counter(_stand(score) for score in usable).most_common()
    if len(stands) > 1 and stands[0][1] == stands[1][1]:
        reason = f"{len(usable)} answers are split: {_split(stands)}"
        return Score.undecided(middle, reason=reason, id=score_id, details={"judgeRepeats": repeats})
    stand, count = stands[0]
    speaker = _nearest([score for score in usable if _stand(score) == stand], middle)
    values = {name: getattr(speaker, name) for name in speaker.model_fields_set}
    values |= {"id": score_id, "details": {**(speaker.details or {}), "judgeRepeats": repeats}}
    if _number(speaker.score) is not None:
        values["score"] = middle
    if count < len(usable) and speaker.reason:
        values["reason"] = f"{count} of {len(usable)} answers: {speaker.reason}"
    return Score.trusted(values)


def _number(score: object) -> float | None:
    return score if isinstance(score, int | float) and not isinstance(score, bool) else None


def _stand(score: Score) -> _Stand:
    """What an answer votes for; numbers of one verdict vote alike."""
    label = None if _number(score.score) is not None else score.score
    return score.outcome, score.status, label


def _nearest(scores: Sequence[Score], middle: float | None) -> Score:
    """The one to speak for all of them: whose number is the nearest to the median, else the first."""

    def distance(score: Score) -> float:
        number = _number(score.score)
        return 0.0 if number is None or middle is None else abs(number - middle)

    return min(scores, key=distance)


def _split(stands: Iterable[tuple[_Stand, int]]) -> str:
    return ", ".join(f"{count} {_word(stand)}" for stand, count in stands)


def _word(stand: _Stand) -> str:
    outcome, status, label = stand
    if isinstance(label, str):
        return repr(label)
    if status is not Status.UNKNOWN:
        return status.value
    return "without PASS or FAIL" if outcome is Outcome.VERDICT else outcome.value.lower()


def _errors(scores: Sequence[Score]) -> str:
    counts = Counter(score.error or score.reason or "the evaluator gave no reason" for score in scores)
    return "; ".join(f"{error} ({count} of {len(scores)} calls)" for error, count in counts.items())


def _repeats(scores: Sequence[Score], numbers: Sequence[float]) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {"answers": [_single(score) for score in scores]}
    apart = spread(numbers)
    return found if apart is None else {**found, "spread": apart}


def _single(score: Score) -> JsonValue:
    form: dict[str, JsonValue] = {"status": score.status.value, "outcome": score.outcome.value}
    given = {"score": score.score, "reason": score.reason, "error": score.error}
    return form | {name: value for name, value in given.items() if value is not None}
