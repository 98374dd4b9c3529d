"""The process that draws figures for :mod:`core.charts.apart`: one after the other, until nobody asks any more."""

import gc
import os
import pickle
import sys

from core.charts.still import drawings


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
