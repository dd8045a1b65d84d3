"""An app whose calls are counted in files, run as a process of its own: `counting_app.py ROOT KIND [RUN_ID]`."""

from __future__ import annotations

import asyncio
import hashlib
import os
import sys
from pathlib import Path
from typing import Any

from genkit_eval import DataPoint, GenkitEval, Limits, Progress, Repeats

COUNT = 400
CONCURRENCY = 8


def counted(path: Path) -> None:
    """One byte more in the file, whatever else happens to the process."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(fd, b".")
    os.close(fd)


def build(root: Path, kind: str) -> GenkitEval:
    """An app with a flow and evaluators that are synchronous if it is of kind `sync`, else asynchronous."""
    ge = GenkitEval(root=root)

    def work(x: int) -> str:
        counted(root.parent / "calls")
        return hashlib.sha256(str(x).encode()).hexdigest()

    def vowels(point: DataPoint) -> int:
        return sum(point.output.count(letter) for letter in "ae")

    async def async_work(x: int) -> str:
        out = work(x)
        await asyncio.sleep(0.002)
        return out

    async def async_vowels(point: DataPoint) -> int:
        await asyncio.sleep(0.001)
        counted(root.parent / "judged")
        return vowels(point)

    ge.define_flow("f", async_work if kind != "sync" else work)
    ge.define_evaluator("t/vowels", async_vowels if kind != "sync" else vowels)
    ge.define_evaluator("t/starts_low", lambda point: point.output[0] < "8", version="1")
    return ge


def given() -> list[dict[str, Any]]:
    return [{"testCaseId": f"s{i}", "input": i} for i in range(COUNT)]


def given_to(kind: str) -> tuple[list[dict[str, Any]], Repeats]:
    """Samples and repeats that come to `COUNT` results; of kind `repeated`, four passes over each sample."""
    return (given()[: COUNT // 4], Repeats(target=4)) if kind == "repeated" else (given(), Repeats())


def main() -> None:
    root, kind = Path(sys.argv[1]), sys.argv[2]
    ge = build(root, kind)
    samples, repeats = given_to(kind)

    def tell(progress: Progress) -> None:
        print(progress.run_id, progress.done, flush=True)

    asyncio.run(
        ge.evaluate(
            samples,
            target="f",
            evaluators=["t/vowels", "t/starts_low"],
            limits=Limits(max_concurrency=CONCURRENCY),
            repeats=repeats,
            progress=tell,
        )
    )


if __name__ == "__main__":
    main()
