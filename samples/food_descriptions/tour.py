"""The whole API in one script, on a flow that describes food: run it, and read it from top to bottom.

python samples/food_descriptions/tour.py
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, Field

from genkit_eval import (
    ANY_VERSION,
    DataPoint,
    EvalRun,
    Finding,
    GenkitEval,
    NotFound,
    Score,
    VersionConflict,
    run_sync,
)

DATASET = "food_descriptions"

PANTRY = {
    "apple": "A crisp apple, sweet with a little acid, best straight from the tree.",
    "cheese": "A ripe cheese: salty, creamy, and strong enough to be smelt from the hall.",
    "lemon": "Sour.",
    "soup": "A hot tomato soup with basil, smooth and bright.",
}

SAMPLES = [
    {"testCaseId": "apple", "input": "apple", "reference": ["crisp", "sweet"], "tags": ["fruit"]},
    {"testCaseId": "cheese", "input": "cheese", "reference": ["salty", "creamy", "blue"]},
    {"testCaseId": "lemon", "input": "lemon", "reference": ["sour", "juicy"], "tags": ["fruit"]},
    {"testCaseId": "durian", "input": "durian", "reference": ["sweet"], "tags": ["fruit"]},
]


# --- what is measured: a flow, here without a model -------------------------------------------------------------------


def describe_food(food: str) -> str:
    """A sentence about a food; the durian is not in the pantry, so that you see how a failure looks."""
    if food not in PANTRY:
        raise LookupError(f"there is no {food} in the pantry")
    return PANTRY[food]


# --- how it is measured: two evaluators -------------------------------------------------------------------------------


class Length(BaseModel):
    """Options of `custom/length`: how many characters a description may have."""

    at_least: int = Field(default=20, ge=0)
    at_most: int = Field(default=70, ge=1)


def length(point: DataPoint, options: Length) -> Score:
    """The number of characters, and whether it is within the limits."""
    count = len(str(point.output))
    if options.at_least <= count <= options.at_most:
        return Score.passed(count)
    return Score.failed(count, reason=f"{count} characters, expected {options.at_least} to {options.at_most}")


def keywords(point: DataPoint) -> Score:
    """The share of the reference's words in the output; PASS or FAIL comes from the threshold declared below."""
    text = str(point.output).lower()
    wanted = [str(word) for word in point.reference]
    findings = [Finding(text=word, passed=word in text) for word in wanted]
    missing = [finding.text for finding in findings if not finding.passed]
    reason = f"missing: {', '.join(missing)}" if missing else None
    return Score.scored(1 - len(missing) / len(wanted), reason=reason, findings=findings)


def app(root: Path) -> GenkitEval:
    """The app: its definitions, with datasets and runs in `root`. `@ge.flow(…)` as a decorator does the same."""
    ge = GenkitEval(root=root)
    ge.define_flow("describeFood", describe_food)
    ge.define_evaluator("custom/length", length, display_name="Length", definition="Neither too short nor too long.")
    ge.define_evaluator(
        "custom/keywords", keywords, requires=["output"], non_empty=["reference"], low=0, high=1, threshold=0.6
    )
    return ge


# --- datasets ---------------------------------------------------------------------------------------------------------


def make_dataset(ge: GenkitEval) -> None:
    """Create, list, get and update; every change makes a new version and keeps the old ones."""
    try:
        ge.datasets.delete(DATASET, expected_version=ANY_VERSION)
    except NotFound:
        pass  # the first time there is none
    ge.datasets.create(
        DATASET,
        SAMPLES,
        dataset_type="FLOW",
        target="/flow/describeFood",
        metric_refs=["custom/length", "custom/keywords"],
    )
    for listed in ge.datasets.list():
        print(f"{listed.dataset_id}: {listed.size} samples, version {listed.version}")
    mine = ge.datasets.get(DATASET)
    soup = {"testCaseId": "soup", "input": "soup", "reference": ["tomato", "basil"]}
    updated = ge.datasets.update(DATASET, [*mine.samples, soup], expected_version=mine.metadata.version)
    print(f"{DATASET}: {updated.size} samples, version {updated.version}")

    print("\nA colleague read version 1 too and saves now:")
    try:
        ge.datasets.update(DATASET, SAMPLES[:1], expected_version=mine.metadata.version)
    except VersionConflict as conflict:
        print(f"VersionConflict: {conflict}")


# --- runs -------------------------------------------------------------------------------------------------------------


def show(run: EvalRun) -> None:
    """Each case with its metrics, then what they add up to."""
    for result in run.results:
        print(f"{result.test_case_id}: {result.error or result.output}")
        for metric in result.metrics:
            print(f"  {metric.name:16} {metric.status} {metric.score}  {metric.rationale or ''}".rstrip())
    for summary in run.summary():
        verdicts = f"{summary.passed} passed, {summary.failed_status} failed, {summary.failed} broke"
        print(f"{summary.name}: {verdicts}, of {summary.total}")


async def evaluate(ge: GenkitEval) -> None:
    """Three ways to score: a stored dataset by its id, samples with outputs of another program, a single answer."""
    print("\n1. The dataset by its id, with its own target and metrics:")
    show(await ge.evaluate(DATASET))

    print("\n2. Outputs that are there already, with other options for one run:")
    given = [{"input": "pear", "output": "A soft pear.", "reference": ["soft"]}]
    show(await ge.evaluate(given, target=None, evaluators=[ge.ref("custom/length", at_least=5), "custom/keywords"]))

    print("\n3. One data point; nothing is stored:")
    for metric in await ge.score(DataPoint(output="Hot, hot, hot!", reference=["hot"]), "custom/keywords"):
        print(f"{metric.evaluator} {metric.status} {metric.score}")


def look_back(ge: GenkitEval) -> None:
    """Runs are kept: list them, newest first, and load one."""
    keys = ge.runs.list(dataset_id=DATASET)
    newest = ge.runs.load(keys[0])
    print(
        f"\n{len(keys)} run(s) of {DATASET}; the newest has {len(newest.results)} results, of dataset version "
        f"{newest.key.dataset_version}:\n{newest.path}"
    )


def main(root: Path) -> None:
    """The tour."""
    ge = app(root)
    make_dataset(ge)
    run_sync(evaluate(ge))
    look_back(ge)


if __name__ == "__main__":
    main(Path(__file__).parent / ".genkit")
