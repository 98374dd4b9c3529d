"""A judge asked about ten thousand pairs, at a simulated server: throughput, memory, kept answers, a budget that ends.

The server speaks chat completions over HTTP on this machine, takes LATENCY_S for an answer and as many at once as it is
asked. The best that could be is every place in the air taken all the time: pairs × latency / concurrency.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import resource
import tempfile
import time
from multiprocessing.connection import Connection

import numpy as np

from bench.report import row
from core.errors import ScoringStopped
from core.evaluators.metrics.judge import Judge
from core.evaluators.scoring import score_pairs

PAIRS, CONCURRENCY, LATENCY_S = 10_000, 64, 0.5
SIDE = 64
"""Pixels of a side: what is sent is small, so that this machine's PNG encoder is not what is measured."""
PREFIX = "INVARISCOPE_JUDGE_"
ANSWER = {
    "usage": {"prompt_tokens": 9, "completion_tokens": 9},
    "choices": [{"message": {"content": json.dumps({"score": 7, "reason": "seen"})}, "finish_reason": "stop"}],
}


def main() -> None:
    """Print one row a measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=PAIRS)
    count = parser.parse_args().pairs
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {
            "INVARISCOPE_DATA": folder,
            f"{PREFIX}URL": f"http://127.0.0.1:{ours.recv()}/v1",
            f"{PREFIX}MODEL": "eye",
            f"{PREFIX}CONCURRENCY": str(CONCURRENCY),
        }
        measure(count, ours)
    server.terminate()


def measure(count: int, server: Connection) -> None:
    """Ask about all pairs, again, and with a budget of half of them."""
    rng = np.random.default_rng(1)
    images = {str(place): rng.integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8) for place in range(count // 10)}
    pairs = [(key, f"caption {number}") for key in images for number in range(10)]
    seconds = _asked(images, pairs)
    best = len(pairs) * LATENCY_S / CONCURRENCY
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    server.send("asked")
    asked, most = server.recv()
    again = _asked(images, pairs)
    server.send("asked")
    speed, share = len(pairs) / seconds, best / seconds
    row(
        f"judge at a simulated server, {CONCURRENCY} questions in the air, {LATENCY_S:g} s an answer",
        f"{speed:.0f} pairs a second, {share:.0%} of the best that could be, peak {peak:.1f} GB",
        f"{len(pairs)} pairs, {asked} questions, {most} at once",
    )
    row(
        "the same pairs again, answered from the journal",
        f"{seconds / again:.0f} × faster ({again:.1f} s), {server.recv()[0] - asked} questions",
        f"{len(pairs)} pairs",
    )
    os.environ |= {f"{PREFIX}MOST_REQUESTS": str(count // 2), f"{PREFIX}MODEL": "eye-2"}
    try:
        _asked(images, pairs)
    except ScoringStopped:
        server.send("asked")
        questions = server.recv()[0] - asked
        row("a budget of half as many requests", f"{questions} questions, then a sentence", f"{len(pairs)} pairs")


def _asked(images: dict[str, np.ndarray], pairs: list[tuple[str, str]]) -> float:
    started = time.perf_counter()
    scores = score_pairs(Judge.load(), images, pairs)
    assert np.isfinite(scores).all()
    return time.perf_counter() - started


def serve(link: Connection) -> None:
    """Answer every question after a while, on a free port that is told first; count them when asked to."""
    counts = {"asked": 0, "now": 0, "most": 0}

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await _head(reader):
            length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if b"content-length" in line)
            model = json.loads(await reader.readexactly(length))["model"]
            counts["asked"] += 1
            counts["now"] += 1
            counts["most"] = max(counts["most"], counts["now"])
            await asyncio.sleep(LATENCY_S)
            counts["now"] -= 1
            data = json.dumps({"model": model, **ANSWER}).encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
            writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
            await writer.drain()
        writer.close()

    def tell() -> None:
        link.recv()
        link.send((counts["asked"], counts["most"]))

    async def run() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0, limit=2**20)
        link.send(server.sockets[0].getsockname()[1])
        asyncio.get_running_loop().add_reader(link.fileno(), tell)
        await server.serve_forever()

    asyncio.run(run())


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return b""


if __name__ == "__main__":
    main()
