"""Reports as JSON, for programs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping

from pydantic import JsonValue

from genkit_eval.engine import EvalRun, repeats_of
from genkit_eval.report.deciders import deciders_document
from genkit_eval.report.repeats import repeats_document
from genkit_eval.report.verdict import Verdict
from genkit_eval.stored import EvalResult, EvalRunKey, MetricSummary

__all__ = ["json_pieces", "key_document", "run_document"]

# what JSON does not escape and a terminal would act on; all of it can only stand inside texts
_UNSAFE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def json_pieces(document: Mapping[str, object], results: Iterable[EvalResult] | None = None) -> Iterator[str]:
    """An object as indented JSON text, harmless on a terminal; with results streamed as its last key."""
    text = _text(dict(document))
    if results is None:
        yield text
        return
    yield (text[:-2] if text.endswith("\n}") else text[:-1]) + ("," if document else "") + '\n  "results": ['
    before = "\n    "
    for result in results:
        yield before + _text(result.to_json()).replace("\n", "\n    ")
        before = ",\n    "
    yield "]\n}" if before.startswith("\n") else "\n  ]\n}"


def _text(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _summary_document(summary: MetricSummary) -> dict[str, JsonValue]:
    """A metric's summary; the pass rate and the mean are null where there is none."""
    return {**summary.to_json(), "passRate": summary.pass_rate, "mean": summary.mean}


def key_document(key: EvalRunKey) -> dict[str, JsonValue]:
    """What a run is listed by."""
    return {**key.to_json(), "state": key.state.value}


def run_document(run: EvalRun, verdict: Verdict | None = None) -> dict[str, JsonValue]:
    """A run without its results: what it was, its summary, where it lies, and what it comes to."""
    document: dict[str, JsonValue] = {
        "evalRunId": run.id,
        "state": run.key.state.value,
        "cases": -(-len(run.results) // repeats_of(run.key).target),
        "path": str(run.path),
        "summary": [_summary_document(row) for row in run.summary()],
        "key": key_document(run.key),
    }
    deciders = deciders_document(run)
    if deciders:
        document["decidedBy"] = deciders
    if repeats_of(run.key).target > 1:
        document["repeats"] = repeats_document(run.repeats())
    if verdict is not None:
        document["gates"] = [
            {"passed": gate.passed, "value": gate.value, "message": gate.message} for gate in verdict.gates
        ]
        document |= {
            "failedCells": verdict.failed_cells,
            "messages": list(verdict.messages),
            "exitCode": verdict.exit_code,
        }
    return document
