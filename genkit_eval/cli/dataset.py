"""`genkit-eval dataset`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from genkit_eval._json import json_text
from genkit_eval.cli.help import VerbGroup
from genkit_eval.cli.numbers import whole_number
from genkit_eval.cli.options import (
    Verb,
    app_option,
    expected_version_option,
    format_option,
    metrics_option,
    parse_evaluator,
    root_option,
    version_value,
    with_options,
)
from genkit_eval.cli.output import columns, say, say_json
from genkit_eval.cli.samples import samples_of
from genkit_eval.cli.session import open_stores
from genkit_eval.cli.targets import target_name
from genkit_eval.datasets import parse_schema, write_samples
from genkit_eval.engine.targets.command_target import COMMAND
from genkit_eval.errors import ConfigError, StoreError
from genkit_eval.library import Datasets
from genkit_eval.report.documents import json_pieces
from genkit_eval.report.lines import Ink, Line, Span, blank, line
from genkit_eval.report.numbers import counted
from genkit_eval.report.tables import Column, Row, table
from genkit_eval.stored import DatasetMetadata, DatasetSchema, DatasetType
from genkit_eval.stores import ANY_VERSION, UNSET, AnyVersion
from genkit_eval.types import Sample

__all__ = ["command"]

SHOWN_SAMPLES = 10

_TYPES = click.Choice([kind.value for kind in DatasetType], case_sensitive=False)


@click.group("dataset", cls=VerbGroup)
def command() -> None:
    """Datasets by id, every version kept.

    \b
    Examples:
      genkit-eval dataset add faq faq.jsonl -t answer -e genkitEval/regex
      genkit-eval dataset list
      genkit-eval dataset update faq faq.jsonl --expected-version 1
      genkit-eval run faq
    """


def _described(function: Any) -> Any:
    options = [
        click.option("--type", "dataset_type", type=_TYPES, help="What the inputs are for."),
        click.option("-t", "--target", metavar="TARGET", help="The flow, model or endpoint that runs of it call."),
        metrics_option("An evaluator that runs of it use. Repeatable."),
        click.option(
            "--schema",
            type=click.Path(path_type=Path, exists=True, dir_okay=False),
            metavar="FILE",
            help='JSON Schemas: {"inputSchema": …, "referenceSchema": …}.',
        ),
    ]
    return with_options(options, function)


@command.command("add", cls=Verb)
@click.argument("dataset")
@click.argument("file")
@_described
@format_option
@app_option
@root_option
def add(**options: Any) -> int:
    """Store the samples of FILE (- for stdin, with --format) as a new dataset.

    \b
    Example:
      genkit-eval dataset add faq faq.jsonl -t answer -e genkitEval/regex
    """
    datasets = _datasets(options)
    schema = _schema(options["schema"])
    metadata = datasets.create(
        options["dataset"],
        samples_of(options["file"], format=options["format"], schema=schema),
        dataset_type=options["dataset_type"] or DatasetType.UNKNOWN,
        target=_target(options["target"]),
        metric_refs=_metrics(options["metrics"]),
        schema=schema,
    )
    return _told(metadata, "stored", as_json=options["as_json"])


@command.command("list", cls=Verb)
@app_option
@root_option
def list_datasets(**options: Any) -> int:
    """List the datasets with their newest version.

    \b
    Example:
      genkit-eval dataset list
    """
    return _listed(_datasets(options).list(), "datasets", as_json=options["as_json"])


@command.command("show", cls=Verb)
@click.argument("dataset")
@click.option("--version", type=whole_number(1), metavar="N", help="An older version.")
@click.option("--all", "every", is_flag=True, help=f"Every sample, not only the first {SHOWN_SAMPLES}.")
@app_option
@root_option
def show(**options: Any) -> int:
    """Show a dataset and its samples.

    \b
    Examples:
      genkit-eval dataset show faq
      genkit-eval dataset show faq --version 1 --all
    """
    dataset = _datasets(options).get(options["dataset"], version=options["version"])
    if options["as_json"]:
        # as a run's results are written: one sample at a time
        samples = [sample.to_json() for sample in dataset.samples]
        say_json(json_pieces({"metadata": dataset.metadata.to_json(), "samples": samples}))
        return 0
    count = len(dataset.samples)
    shown = dataset.samples if options["every"] else dataset.samples[:SHOWN_SAMPLES]
    say([*_metadata_lines(dataset.metadata), blank(), *_sample_lines(shown)])
    if len(shown) < count:
        say([line(Span(f"and {count - len(shown)} more: --all shows them", Ink.FAINT))])
    return 0


@command.command("update", cls=Verb)
@click.argument("dataset")
@click.argument("file", required=False)
@expected_version_option
@click.option("--patch", is_flag=True, help="Add the samples, or replace those of the same id; keep all others.")
@click.option("--delete", "deleted", multiple=True, metavar="ID", help="Take out the sample of this id. Repeatable.")
@_described
@format_option
@app_option
@root_option
def update(**options: Any) -> int:
    """Replace the samples of a dataset by those of FILE, or what describes it, as a new version.

    With --patch or --delete only those samples change. The change is refused when the dataset is no longer at
    --expected-version, so that nobody's work is overwritten unseen.

    \b
    Examples:
      genkit-eval dataset update faq faq.jsonl --expected-version 3
      genkit-eval dataset update faq more.jsonl --patch --expected-version 3
      genkit-eval dataset update faq --delete q7 --expected-version 4
    """
    datasets, name = _datasets(options), options["dataset"]
    expected = _expected(datasets, name, options["expected_version"])
    schema = _schema(options["schema"])
    given = options["file"] is not None
    samples = samples_of(options["file"], format=options["format"], schema=schema) if given else None
    described = any(options[key] for key in ("dataset_type", "target", "metrics", "schema"))
    if options["patch"] or options["deleted"]:
        if described or (given and not options["patch"]):
            raise click.UsageError("--patch and --delete change samples alone: update the rest in a second step")
        metadata = datasets.patch(name, samples or (), delete=options["deleted"], expected_version=expected)
    elif samples is None and not described:
        raise click.UsageError("there is nothing to update: give a FILE, or --delete, --target, -e, --type or --schema")
    else:
        metadata = datasets.update(
            name,
            samples,
            expected_version=expected,
            target=_target(options["target"]) or UNSET,
            metric_refs=_metrics(options["metrics"]) or UNSET,
            dataset_type=options["dataset_type"] or UNSET,
            schema=schema or UNSET,
        )
    return _told(metadata, "updated", as_json=options["as_json"])


@command.command("history", cls=Verb)
@click.argument("dataset")
@app_option
@root_option
def history(**options: Any) -> int:
    """List the versions of a dataset, newest first.

    \b
    Example:
      genkit-eval dataset history faq
    """
    return _listed(_datasets(options).history(options["dataset"]), "versions", as_json=options["as_json"])


@command.command("export", cls=Verb)
@click.argument("dataset")
@click.argument("file")
@click.option("--version", type=whole_number(1), metavar="N", help="An older version.")
@format_option
@app_option
@root_option
def export(**options: Any) -> int:
    """Write the samples of a dataset to FILE: .json, .jsonl, .csv, .tsv or .yaml.

    \b
    Example:
      genkit-eval dataset export faq faq.csv --version 2
    """
    dataset = _datasets(options).get(options["dataset"], version=options["version"])
    path = Path(options["file"])
    try:
        write_samples(path, dataset.samples, format=options["format"], schema=dataset.metadata.json_schema)
    except OSError as problem:
        raise StoreError(f"{path} cannot be written: {problem.strerror or problem}") from problem
    document = {"file": str(path), "samples": len(dataset.samples), "version": dataset.metadata.version}
    if options["as_json"]:
        say_json(json_pieces(document))
    else:
        samples = counted(len(dataset.samples), "sample")
        say([line(f"wrote {samples} of version {document['version']} to {path}")])
    return 0


@command.command("remove", cls=Verb)
@click.argument("dataset")
@expected_version_option
@app_option
@root_option
def remove(**options: Any) -> int:
    """Remove a dataset and its history; runs of it stay.

    \b
    Example:
      genkit-eval dataset remove faq --expected-version 4
    """
    datasets, name = _datasets(options), options["dataset"]
    datasets.delete(name, expected_version=_expected(datasets, name, options["expected_version"]))
    if options["as_json"]:
        say_json(json_pieces({"removed": name}))
    else:
        say([line(f"removed dataset {name}")])
    return 0


def _datasets(options: dict[str, Any]) -> Datasets:
    return open_stores(options).ge.datasets


def _expected(datasets: Datasets, name: str, given: str | None) -> int | AnyVersion:
    """The version that the change is meant for; without one, the current one is told."""
    if given is None:
        current = datasets.get(name).metadata.version
        raise click.UsageError(
            f"dataset '{name}' is at version {current}: look at it, then say --expected-version {current}"
        )
    number = version_value(given)
    return ANY_VERSION if number is None else number


def _target(target: str | None) -> str | None:
    """Targets are stored under their full name."""
    name = None if target is None else target_name(target)
    if name is not None and name.startswith(COMMAND):
        raise click.UsageError(
            "a dataset may name a flow, a model or an endpoint, but starts no command: name it at a run"
        )
    return name


def _metrics(specs: Sequence[str]) -> list[str]:
    """Names alone, as Genkit's tools keep them."""
    parsed = [parse_evaluator(spec) for spec in specs]
    for name, chosen in parsed:
        if chosen:
            raise click.UsageError(
                f"a dataset keeps its metrics without options: give {name} alone here, and the options when you run it"
            )
    return [name for name, _ in parsed]


def _schema(path: Path | None) -> DatasetSchema | None:
    if path is None:
        return None
    try:
        return parse_schema(json.loads(path.read_text(encoding="utf-8-sig")))
    except (OSError, ValueError, RecursionError) as problem:
        raise ConfigError(f"{path} is no schema of a dataset: {problem}") from problem


def _told(metadata: DatasetMetadata, verb: str, *, as_json: bool) -> int:
    if as_json:
        say_json(json_pieces(metadata.to_json()))
    else:
        samples = counted(metadata.size, "sample")
        say([line(f"{verb} dataset {metadata.dataset_id}, version {metadata.version}, {samples}")])
    return 0


def _listed(found: Sequence[DatasetMetadata], what: str, *, as_json: bool) -> int:
    if as_json:
        say_json(json_pieces({what: [metadata.to_json() for metadata in found]}))
    elif not found:
        say([line("no datasets yet: genkit-eval dataset add stores one")])
    else:
        shown = (
            Column("dataset"),
            Column("version", right=True),
            Column("samples", right=True),
            Column("updated (UTC)"),
            Column("type"),
            Column("target", least=8),
        )
        say(table(shown, [Row(_cells(metadata)) for metadata in found], width=columns()))
    return 0


def _cells(metadata: DatasetMetadata) -> tuple[Span | str, ...]:
    return (
        Span(metadata.dataset_id, Ink.STRONG),
        str(metadata.version),
        str(metadata.size),
        f"{metadata.update_time:%Y-%m-%d %H:%M}",
        "" if metadata.dataset_type is DatasetType.UNKNOWN else metadata.dataset_type.value,
        _bare(metadata.target_action or ""),
    )


def _bare(name: str) -> str:
    return name.removeprefix("/flow/").removeprefix("/evaluator/")


def _metadata_lines(metadata: DatasetMetadata) -> list[Line]:
    facts = {
        "version": str(metadata.version),
        "samples": str(metadata.size),
        "type": "" if metadata.dataset_type is DatasetType.UNKNOWN else metadata.dataset_type.value,
        "target": _bare(metadata.target_action or ""),
        "metrics": ", ".join(_bare(name) for name in metadata.metric_refs),
        "schema": "yes" if metadata.json_schema else "",
        "created": f"{metadata.create_time:%Y-%m-%d %H:%M} UTC",
        "updated": f"{metadata.update_time:%Y-%m-%d %H:%M} UTC",
    }
    title = line(Span(metadata.dataset_id, Ink.STRONG))
    return [title, *(line(Span(f"{name:<10}", Ink.FAINT), value) for name, value in facts.items() if value)]


def _sample_lines(samples: Sequence[Sample]) -> list[Line]:
    shown = (Column("sample", least=8), Column("input", least=12), Column("reference", least=12))
    rows = [
        Row(
            (
                Span(sample.test_case_id or "", Ink.STRONG),
                json_text(sample.input) if sample.has("input") else "",
                json_text(sample.reference) if sample.has("reference") else "",
            )
        )
        for sample in samples
    ]
    return table(shown, rows, width=columns())
