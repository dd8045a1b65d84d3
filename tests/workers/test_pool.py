"""The worker processes behind jsonata and the costly patterns."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

from genkit_eval.errors import GenkitEvalError
from genkit_eval.workers import WorkerPool
from tests.processes import wait_for_end

ENDLESS = "($loop := function($n){ $loop($n + 2) }; $loop(0))"


@pytest.fixture
def pool():
    pool = WorkerPool(1)
    yield pool
    pool.close()


def script(code: str, *, wait: bool = True) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if wait:
        process.wait(60)
    return process


def test_no_process_is_started_before_it_is_needed(pool: WorkerPool) -> None:
    assert pool.pids() == []


def test_one_worker_serves_many_calls(pool: WorkerPool) -> None:
    pool.call("jsonata", "1", {}, seconds=5)
    first = pool.pids()

    pool.call("jsonata", "2", {}, seconds=5)

    assert pool.pids() == first
    assert len(first) == 1


def test_a_call_past_its_deadline_is_killed_and_leaves_no_zombie(pool: WorkerPool) -> None:
    pool.call("jsonata", "1", {}, seconds=5)
    (pid,) = pool.pids()

    with pytest.raises(TimeoutError):
        pool.call("jsonata", ENDLESS, {}, seconds=0.2)

    assert pool.pids() == []
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_waiting_for_a_worker_does_not_count(pool: WorkerPool) -> None:
    def run_away() -> None:
        with pytest.raises(TimeoutError):
            pool.call("jsonata", ENDLESS, {}, seconds=1.5)

    runaway = threading.Thread(target=run_away)
    runaway.start()
    while not pool.pids():
        pass

    reply = pool.call("jsonata", "1 = 1", {}, seconds=0.7)

    assert reply["verdict"] is True
    runaway.join()


def test_more_threads_than_workers_all_get_their_reply() -> None:
    pool = WorkerPool(2)
    replies: dict[int, int] = {}

    def ask(number: int) -> None:
        for _ in range(20):
            replies[number] = pool.call("jsonata", "n", {"n": number}, seconds=10)["details"]["result"]

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert replies == {number: number for number in range(12)}
    assert len(pool.pids()) <= 2
    pool.close()


def test_a_worker_that_died_while_idle_is_replaced(pool: WorkerPool) -> None:
    pool.call("jsonata", "1", {}, seconds=5)
    (pid,) = pool.pids()
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)

    assert pool.call("jsonata", "1", {}, seconds=5)["verdict"] is True


def test_a_worker_that_dies_at_work_is_an_error_and_is_replaced(pool: WorkerPool) -> None:
    errors: list[str] = []

    def work() -> None:
        with pytest.raises(GenkitEvalError) as raised:
            pool.call("jsonata", ENDLESS, {}, seconds=30)
        errors.append(str(raised.value))

    thread = threading.Thread(target=work)
    thread.start()
    while not pool.pids():
        pass
    os.kill(pool.pids()[0], signal.SIGKILL)
    thread.join()

    assert errors == ["its worker process died (signal 9)"]
    assert pool.call("jsonata", "1", {}, seconds=5)["verdict"] is True


def test_a_worker_that_ran_out_of_memory_is_replaced(pool: WorkerPool) -> None:
    pool.call("jsonata", "1", {}, seconds=5)
    before = pool.pids()

    reply = pool.call("jsonata", "$pad('x', 2000000000)", {}, seconds=5)

    assert reply["error"].startswith("out of memory")
    pool.call("jsonata", "1", {}, seconds=5)
    assert pool.pids() != before


def test_a_worker_that_keeps_much_memory_is_replaced(pool: WorkerPool) -> None:
    pool.call("jsonata", "1", {}, seconds=5)
    before = pool.pids()

    # compiled expressions are kept, and this is a large one
    pool.call("check", f"[{'1,' * 45_000}1]", seconds=60)
    pool.call("jsonata", "1", {}, seconds=5)

    assert pool.pids() != before


def test_a_request_larger_than_a_pipe_arrives(pool: WorkerPool) -> None:
    reply = pool.call("jsonata", "$length($)", "x" * 3_000_000, seconds=30)

    assert reply["details"] == {"result": 3_000_000}


def test_a_closed_pool_refuses_calls(pool: WorkerPool) -> None:
    pool.call("jsonata", "1", {}, seconds=5)
    (pid,) = pool.pids()

    pool.close()

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(GenkitEvalError, match="shutting down"):
        pool.call("jsonata", "1", {}, seconds=5)


def test_the_workers_end_with_the_interpreter() -> None:
    process = script(
        "from genkit_eval.workers import POOL\nPOOL.call('jsonata', '1', {}, seconds=5)\nprint(POOL.pids()[0])\n"
    )

    assert process.returncode == 0
    assert wait_for_end(int(process.communicate()[0]))


@pytest.mark.parametrize("expression", ["1", ENDLESS], ids=["idle", "busy"])
def test_no_worker_outlives_a_parent_that_was_killed(expression: str) -> None:
    process = script(
        "import threading\n"
        "from genkit_eval.workers import POOL\n"
        "POOL.call('jsonata', '1', {}, seconds=5)\n"
        "print(POOL.pids()[0], flush=True)\n"
        f"POOL.call('jsonata', {expression!r}, {{}}, seconds=1)\n"
        "threading.Event().wait()\n",
        wait=False,
    )
    pid = int(process.stdout.readline())

    process.kill()
    process.communicate()

    assert wait_for_end(pid)


def test_ctrl_c_interrupts_a_call_and_the_next_one_gets_its_own_reply() -> None:
    process = script(
        "import threading\n"
        "from genkit_eval.workers import POOL\n"
        "def tell():\n"
        "    while not POOL.pids(): pass\n"
        "    print('busy', flush=True)\n"
        "threading.Thread(target=tell).start()\n"
        "try:\n"
        f"    POOL.call('jsonata', {ENDLESS!r}, {{}}, seconds=60)\n"
        "except KeyboardInterrupt:\n"
        "    print(POOL.pids(), POOL.call('jsonata', '40 + 2', {}, seconds=5)['details'])\n",
        wait=False,
    )
    assert process.stdout.readline() == "busy\n"

    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)

    assert out == "[] {'result': 42}\n"


def test_ctrl_c_in_the_terminal_does_not_reach_the_workers(pool: WorkerPool) -> None:
    pool.call("jsonata", "1", {}, seconds=5)
    (pid,) = pool.pids()

    os.kill(pid, signal.SIGINT)

    assert pool.call("jsonata", "1", {}, seconds=5)["verdict"] is True
    assert pool.pids() == [pid]
    assert os.getpgid(pid) != os.getpgid(0)


def test_a_forked_child_has_workers_of_its_own() -> None:
    process = script(
        "import os\n"
        "from genkit_eval.workers import POOL\n"
        "def ask(): return POOL.call('jsonata', '1', {}, seconds=5)['verdict'], POOL.pids()\n"
        "before = ask()\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    verdict, pids = ask()\n"
        "    POOL.close()\n"
        "    os._exit(0 if verdict and pids != before[1] else 1)\n"
        "print(os.waitpid(child, 0)[1], ask() == before)\n"
    )

    assert process.communicate()[0] == "0 True\n"


def test_a_deadline_holds_where_pipes_cannot_be_polled() -> None:
    process = script(
        "import select\n"
        "del select.poll\n"
        "from genkit_eval.workers import POOL\n"
        "try:\n"
        f"    POOL.call('jsonata', {ENDLESS!r}, {{}}, seconds=0.5)\n"
        "except TimeoutError:\n"
        "    print(POOL.call('jsonata', '1', {}, seconds=5)['verdict'])\n"
    )

    assert process.communicate()[0] == "True\n"


def test_a_worker_finds_the_libraries_that_the_parent_finds(tmp_path) -> None:
    (tmp_path / "jsonata.py").write_text("raise ImportError('found where the parent finds it')", encoding="utf-8")

    process = script(
        "import sys\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "from genkit_eval.errors import GenkitEvalError\n"
        "from genkit_eval.workers import POOL\n"
        "try:\n"
        "    POOL.call('jsonata', '1', {}, seconds=5)\n"
        "except GenkitEvalError as problem:\n"
        "    print(problem)\n"
    )

    assert process.communicate()[0] == "cannot start a worker process: found where the parent finds it\n"


def test_a_worker_that_cannot_start_is_an_error() -> None:
    process = script(
        "import sys\n"
        "from genkit_eval.workers import POOL\n"
        "from genkit_eval.errors import GenkitEvalError\n"
        "for executable in ('/nowhere/python', '/bin/false'):\n"
        "    sys.executable = executable\n"
        "    try:\n"
        "        POOL.call('jsonata', '1', {}, seconds=5)\n"
        "    except GenkitEvalError as problem:\n"
        "        print(str(problem).startswith('cannot start a worker process: '))\n"
    )

    assert process.communicate()[0] == "True\nTrue\n"
