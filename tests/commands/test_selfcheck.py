"""``selfcheck``: a corpus end to end, a run's items, the line in a report's methods, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest

from core.analysis.reading import read_table
from core.features.feature import methods
from core.report.document import Report
from core.report.html import html
from core.report.report_files import latex, markdown
from core.settings import runs_dir
from core.store.store import Store
from tests.analysis.made_runs import audited, score, write_run
from tests.commands.calling import Invoke


def test_a_corpus_is_audited_and_what_is_stored_is_what_was_planted(invoke: Invoke) -> None:
    told = json.loads(invoke("selfcheck", "--corpus", "demo", "--limit", 16, "--repeats", 2, "--json").stdout)
    assert told["items"] == 16
    assert told["compared"] == 13 * 3 * 16
    broken = {(row["planted"], row["family"]): row for row in told["lines"] if row["finding"] != "drifts"}
    assert broken["notices only negation", "negation"]["is"] == "false alarm"
    assert broken["notices only negation", "negation"]["rate"] == 0
    assert broken["notices only negation", "order"]["rate"] == broken["reads length only", "order"]["rate"] == 100


def test_a_runs_items_give_the_line_of_its_report(invoke: Invoke) -> None:
    folder = write_run(runs_dir() / "mine", audited("vflip", items=30))
    with Store.open([folder]) as store:
        table = read_table(store)
        before = methods(table)
        result = invoke("selfcheck", "--run", "mine", "--repeats", 3)
        after = methods(table)
    assert result.exit_code == 0
    assert len(before) == len(after) == 1
    assert "selfcheck was not run for these items; `python -m core selfcheck --run mine`" in before[0]
    assert after[0].startswith("Self-check at this n (30 items, 30 sources)")
    assert after[0] in result.stderr
    report = Report("Title", "signature", {}, (), methods=after)
    for written in (markdown(report), html(report), latex(report)):
        assert "Self-check at this n" in written


def test_another_set_of_items_has_not_been_checked(invoke: Invoke) -> None:
    write_run(runs_dir() / "mine", audited("vflip", items=30))
    other = write_run(runs_dir() / "other", audited("vflip", items=29))
    invoke("selfcheck", "--run", "mine", "--repeats", 1)
    with Store.open([other]) as store:
        assert "was not run for these items" in methods(read_table(store))[0]


def test_the_seed_gives_the_same_numbers_again(invoke: Invoke) -> None:
    write_run(runs_dir() / "mine", audited("vflip", items=20))
    one, same = (invoke("selfcheck", "--run", "mine", "--repeats", 3, "--seed", 5, "--json").stdout for _ in range(2))
    assert one == same


def one_source() -> list[dict[str, object]]:
    return [
        score(f"i{place}", probe, float(np.sin(place)) + 2) for probe in ("identity", "vflip") for place in range(1)
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--corpus", "nowhere"), "no corpus is named 'nowhere'"),
        (("--limit", 1), "has 1 item of 1 source"),
        (("--run", "nothing"), "nothing"),
        (("--run", "single"), "has 1 item of 1 source"),
        (("--corpus", "demo-videos", "--limit", 2), "is of videos"),
        (("--repeats", 0), "repeats"),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(invoke: Invoke, arguments: tuple[object, ...], said: str) -> None:
    write_run(runs_dir() / "single", one_source())
    result = invoke("selfcheck", *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_a_corpus_without_an_item_is_refused(invoke: Invoke, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    result = invoke("selfcheck", "--corpus", "folder", "--root", empty)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
