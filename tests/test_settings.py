"""Settings come from the first place that has them, and say from which."""

from __future__ import annotations

from pathlib import Path

import pytest

from genkit_eval import ConfigError
from genkit_eval.settings import find_settings


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project's folder, above which nothing is looked for."""
    (tmp_path / ".git").mkdir()
    return tmp_path


def test_options_go_before_variables_before_the_file_before_the_default(project: Path) -> None:
    file = project / "genkit-eval.toml"
    file.write_text('app = "file:a"\nroot = "file"\nmax_concurrency = 3\n', encoding="utf-8")
    variables = {"GENKIT_EVAL_APP": "variable:a", "GENKIT_EVAL_HOME": "variable"}

    settings = find_settings({"app": "option:a", "root": None}, start=project, environment=variables)

    found = {name: settings.get(name) for name in ("app", "root", "max_concurrency", "timeout")}
    assert {name: setting.value for name, setting in found.items()} == {
        "app": "option:a",
        "root": "variable",
        "max_concurrency": 3,
        "timeout": None,
    }
    assert [setting.origin for setting in found.values()] == ["--app", "GENKIT_EVAL_HOME", str(file), "default"]


def test_the_nearest_file_upwards_counts(project: Path) -> None:
    (project / "genkit-eval.toml").write_text("timeout = 1", encoding="utf-8")
    inner = project / "a" / "b"
    inner.mkdir(parents=True)
    (project / "a" / "pyproject.toml").write_text("[tool.genkit_eval]\ntimeout = 2.5", encoding="utf-8")

    assert find_settings({}, start=inner, environment={}).timeout == 2.5


def test_a_pyproject_without_our_table_is_passed_by(project: Path) -> None:
    (project / "genkit-eval.toml").write_text("timeout = 1", encoding="utf-8")
    inner = project / "a"
    inner.mkdir()
    (inner / "pyproject.toml").write_text("[tool.other]\n", encoding="utf-8")

    assert find_settings({}, start=inner, environment={}).timeout == 1


def test_what_lies_above_the_project_is_not_about_it(project: Path) -> None:
    (project / "genkit-eval.toml").write_text("timeout = 1", encoding="utf-8")
    inner = project / "a"
    (inner / ".git").mkdir(parents=True)

    assert find_settings({}, start=inner, environment={}).timeout is None


def test_a_root_in_a_file_is_relative_to_the_file(project: Path) -> None:
    (project / "genkit-eval.toml").write_text('root = "runs"', encoding="utf-8")
    inner = project / "a"
    inner.mkdir()

    assert find_settings({}, start=inner, environment={}).root == project / "runs"
    assert find_settings({"root": "runs"}, start=inner, environment={}).root == Path("runs")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("max_concurrency = 0", "expected a whole number from 1 up"),
        ("max_concurrency = true", "expected a whole number from 1 up"),
        ("max_concurrency = 1.5", "expected a whole number from 1 up"),
        ("timeout = -1", "expected seconds from 0 up"),
        ("timeout = nan", "expected seconds from 0 up"),
        ("app = 3", "expected text like 'app.py:ge'"),
        ("judge = ' '", "expected text, the name of a model like 'openai/NAME'"),
        ("embedder = 3", "expected text, the name of an embedder like 'openai/NAME'"),
        ("model_limit = 3", "expected text like 'openai/NAME:concurrency=4', or a list of such texts"),
        ("model_limit = ['a:b=1']", "'a:b=1': unknown limit 'b'"),
        ("panel = 'median'", "expected 'majority' or 'mean'"),
        ("rot = 'x'", "did you mean 'root'"),
        ("app = ", "cannot be read"),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_its_place(project: Path, text: str, said: str) -> None:
    (project / "genkit-eval.toml").write_text(text, encoding="utf-8")

    with pytest.raises(ConfigError, match=r"genkit-eval\.toml") as refused:
        find_settings({}, start=project, environment={})

    assert said in str(refused.value)


@pytest.mark.parametrize("value", ["x", "0", "1.5"])
def test_a_variable_that_cannot_be_is_refused_by_its_name(project: Path, value: str) -> None:
    with pytest.raises(ConfigError, match="GENKIT_EVAL_MAX_CONCURRENCY"):
        find_settings({}, start=project, environment={"GENKIT_EVAL_MAX_CONCURRENCY": value})


def test_numbers_are_read_from_variables(project: Path) -> None:
    variables = {"GENKIT_EVAL_MAX_CONCURRENCY": "7", "GENKIT_EVAL_TIMEOUT": "0"}

    settings = find_settings({}, start=project, environment=variables)

    assert (settings.max_concurrency, settings.timeout) == (7, 0.0)


def test_what_models_take_a_minute_may_come_from_file_and_variable(project: Path) -> None:
    (project / "genkit-eval.toml").write_text("requests_per_minute = 500\ntokens_per_minute = 9\n", encoding="utf-8")

    settings = find_settings({}, start=project, environment={"GENKIT_EVAL_TOKENS_PER_MINUTE": "2e6"})

    assert (settings.requests_per_minute, settings.tokens_per_minute) == (500, 2_000_000)


def test_limits_of_models_are_texts_in_one_or_a_list(project: Path) -> None:
    (project / "genkit-eval.toml").write_text(
        'model_limit = ["openai/a:concurrency=4", "b:requests_per_minute=9"]', encoding="utf-8"
    )
    variables = {"GENKIT_EVAL_MODEL_LIMIT": "openai/a:concurrency=5; b:concurrency=1"}

    of_file = find_settings({}, start=project, environment={})
    of_variable = find_settings({}, start=project, environment=variables)

    assert of_file.model_limit == "openai/a:concurrency=4; b:requests_per_minute=9"
    assert of_variable.model_limit == variables["GENKIT_EVAL_MODEL_LIMIT"]
    with pytest.raises(ConfigError, match=r"^--model-limit: 'b': expected MODEL:LIMIT=NUMBER"):
        find_settings({"model_limit": ["b"]}, start=project, environment={})


@pytest.mark.parametrize("value", ["0", "-1", "inf", "nan", "x"])
def test_a_minute_without_requests_is_refused(project: Path, value: str) -> None:
    with pytest.raises(ConfigError, match=r"GENKIT_EVAL_REQUESTS_PER_MINUTE is .*: expected a number above 0"):
        find_settings({}, start=project, environment={"GENKIT_EVAL_REQUESTS_PER_MINUTE": value})


def test_a_table_that_is_none_is_refused(project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool]\ngenkit_eval = 3", encoding="utf-8")

    with pytest.raises(ConfigError, match=r"\[tool.genkit_eval\] is no table"):
        find_settings({}, start=project, environment={})


def test_a_file_of_prices_lies_where_the_configuration_says(project: Path) -> None:
    (project / "genkit-eval.toml").write_text('prices = "money/prices.json"\n', encoding="utf-8")

    from_file = find_settings({}, start=project, environment={})
    from_variable = find_settings({}, start=project, environment={"GENKIT_EVAL_PRICES": "other.json"})

    assert from_file.prices == project / "money" / "prices.json"
    assert from_variable.prices == Path("other.json")
