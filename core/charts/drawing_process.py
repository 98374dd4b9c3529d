"""Drawings that are made beside other work: in a process of their own, as soon as their figures are there."""

import contextlib
import gc
import os
import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from threading import Condition, Thread
from typing import IO, Any

from core import settings
from core.charts.spec import Figure
from core.charts.still import drawings

WORTH_A_PROCESS = 1500
"""Marks in all figures from which on a second process saves more than its start costs."""

_MODULE = "core.charts.drawing_process"


class Drawings:
    """Still drawings of many figures, begun as figures come; to be used in a ``with``.

    A process draws them in the order in which they come, where there is enough to draw and more than one core. Who asks
    for one draws what is not begun here meanwhile, and all of them where there is no process or it has ended.

    Args:
        kinds: of every drawing, of ``svg``, ``pdf`` and ``png``; none: nothing is drawn.
    """

    def __init__(self, kinds: Sequence[str]) -> None:
        self._kinds = tuple(kinds)
        self._known = dict[int, Figure]()  # which keeps them, and so their ids
        self._made = dict[int, dict[str, bytes]]()
        self._waiting, self._changed, self._closed = deque[Figure](), Condition(), False
        self._marks, self._thread = 0, None if (os.cpu_count() or 1) > 1 else _NOBODY
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Drawings":
        """Nothing is begun yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process, whatever it is at."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._changed.notify_all()
        if self._process is not None:
            self._process.kill()  # nobody waits for a drawing that nobody asked for
        if self._thread is not None and self._thread is not _NOBODY:
            self._thread.join()

    def begin(self, figure: Figure) -> None:
        """Have a figure drawn when its turn comes; one that was begun is not begun again."""
        if not self._kinds or id(figure) in self._known:
            return
        with self._changed:
            self._known[id(figure)] = figure
            self._waiting.append(figure)
            self._changed.notify_all()
        self._marks += len(figure.frame)
        if self._thread is None and self._marks >= WORTH_A_PROCESS:
            self._thread = Thread(target=self._draw_apart, name="drawings", daemon=True)
            self._thread.start()

    def of(self, figure: Figure) -> dict[str, bytes]:
        """The drawings of a figure, kind -> content; begun now where it was not."""
        self.begin(figure)
        while self._kinds and id(figure) not in self._made:
            with self._changed:
                own = self._take(figure)
                if own is None and id(figure) not in self._made:
                    self._changed.wait()
            if own is not None:
                self._keep(own, drawings(own, kinds=self._kinds))
        return self._made.get(id(figure), {})

    def _take(self, figure: Figure) -> Figure | None:
        """What is not begun: this figure, else the one whose turn comes last; None where all are begun."""
        if any(each is figure for each in self._waiting):
            self._waiting = deque(each for each in self._waiting if each is not figure)
            return figure
        return self._waiting.pop() if self._waiting else None

    def _keep(self, figure: Figure, drawn: dict[str, bytes]) -> None:
        with self._changed:
            self._made[id(figure)] = drawn
            self._changed.notify_all()

    def _draw_apart(self) -> None:
        """Give a process one figure after the other; one that it does not give back is drawn by who asks for it."""
        with _process() as (self._process, to, back):
            while (figure := self._next()) is not None:
                try:
                    pickle.dump((figure, self._kinds), to)
                    to.flush()
                    self._keep(figure, pickle.load(back))  # noqa: S301  # of our own process
                except (OSError, EOFError, pickle.UnpicklingError):
                    with self._changed:
                        self._waiting.appendleft(figure)
                        self._changed.notify_all()
                    return

    def _next(self) -> Figure | None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            return None if self._closed else self._waiting.popleft()


_NOBODY = Thread()  # stands for a process that is not to be started


@contextlib.contextmanager
def _process() -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes], IO[bytes]]]:
    """A process that draws, where to ask it, and where it answers."""
    asked: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    where = settings.ROOT if not settings.INSTALLED else None
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", _MODULE], cwd=where, env=settings.environment() | one_thread, **asked
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process, process.stdin, process.stdout
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):  # what it never read stays in the buffer
                pipe.close()


def main() -> None:
    """Read figures and kinds of drawing from standard input, write the drawings to standard output."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no answer
    gc.disable()  # a drawing is made of many small parts, and looking for cycles among them takes a tenth of the time
    while True:
        try:
            figure, kinds = pickle.load(sys.stdin.buffer)  # noqa: S301  # from the process that started this one
        except EOFError:
            return
        pickle.dump(drawings(figure, kinds=kinds), answers)
        answers.flush()
        gc.collect()


if __name__ == "__main__":
    main()
