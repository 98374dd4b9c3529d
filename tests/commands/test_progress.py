"""Progress in a pipe is plain lines, few of them, with what is left."""

import pytest

from core.api import progress_lines as plain
from core.api.progress_lines import duration
from core.commands._progress import progress


@pytest.mark.parametrize(
    ("seconds", "said"), [(0, "0 s"), (59.4, "59 s"), (61, "1 min 01 s"), (3599.7, "1 h 00 min"), (3725, "1 h 02 min")]
)
def test_durations_read_as_people_say_them(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_in_a_pipe_the_first_and_the_last_line_come_and_few_between(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ticks = iter([0.0, *(float(second) for second in range(1, 101))])
    monkeypatch.setattr(plain.time, "monotonic", lambda: next(ticks))
    with progress("scoring", unit="pairs", plain_every_s=40) as update:
        for done in range(1, 101):
            update(done, 100)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "scoring: 1 of 100 pairs, 1 s, about 1 min 39 s left",
        "scoring: 41 of 100 pairs, 41 s, about 59 s left",
        "scoring: 81 of 100 pairs, 1 min 21 s, about 19 s left",
        "scoring: 100 of 100 pairs, 1 min 40 s",
    ]


def test_a_line_says_which_model_is_at_work(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("audit", unit="images") as update:
        update(0, 9, doing="loading conse-lite0, 1 of 2")
    assert capsys.readouterr().err == "audit: 0 of 9 images, 0 s, loading conse-lite0, 1 of 2\n"


def test_on_a_terminal_a_bar_counts_to_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with progress("scoring", unit="pairs") as update:
        update(7, 7)
    assert "7/7" in capsys.readouterr().err
