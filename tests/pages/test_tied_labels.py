"""Labels of two categories on the pages: listed with their counts, and left out where the reader asks for it."""

from core.settings import runs_dir
from tests.analysis.made_runs import score, write_run
from tests.pages.opening import FAILURES, RESULTS, Open, said

LABELS = [("bench", "outdoor")] * 12 + [("cat", "animal")] * 20
TOGGLE = "untied"


def written(**corpus: object) -> None:
    """One run among the user's own: twelve benches and twenty cats."""
    rows = [
        score(
            f"i{place:03d}",
            probe,
            0.5 + place / 100 + (probe == "vflip") / 50,
            corpus="yard",
            evaluator="ant",
            label=label,
            category=category,
            coverage=0.5,
            caption="There is one.",
        )
        for place, (label, category) in enumerate(LABELS)
        for probe in ("identity", "vflip")
    ]
    counts = {"items_kept": 32, "items_rejected": 0, "pairs": 64, "scores_null": 0, "rows": 64}
    told = {"name": "yard", "fingerprint": "0" * 64, **corpus}
    write_run(runs_dir() / "yard-1", rows, corpus=told, evaluators=[{"name": "ant"}], counts=counts)


def test_tied_labels_are_listed_and_can_be_left_out(open_page: Open, demo: object) -> None:
    written(tied={"bench": {"category": "outdoor", "or": "furniture", "items": 12}})
    app = open_page(RESULTS, run="yard-1", question="object", part="map")
    assert not app.exception
    (table,) = [each.value for each in app.dataframe if "share" in each.value]
    assert table[["label", "category", "other", "n"]].to_numpy().tolist() == [["bench", "outdoor", "furniture", 12]]
    (toggle,) = [each for each in app.toggle if each.key.endswith(f".{TOGGLE}")]
    toggle.set_value(True).run()
    assert not app.exception
    assert app.query_params["untied"] in ("yes", ["yes"])
    (balance,) = [each.value for each in app.dataframe if "all" in each.value]
    assert balance["category"].tolist() == ["animal", "all"]
    assert balance["all"].tolist() == [20, 20]


def test_a_run_that_does_not_record_them_says_so_and_offers_no_filter(open_page: Open, demo: object) -> None:
    written()
    app = open_page(RESULTS, run="yard-1", question="object", part="map")
    assert not app.exception
    assert "made before tied labels were counted" in said(app)
    assert not [each for each in app.toggle if each.key.endswith(f".{TOGGLE}")]


def test_failures_leave_out_the_same_items(open_page: Open, demo: object) -> None:
    written(tied={"bench": {"category": "outdoor", "or": "furniture", "items": 12}})
    every, left = (open_page(FAILURES, run="yard-1", **more) for more in ({}, {"untied": "yes"}))
    assert not left.exception
    assert "bench" in said(every)
    assert "bench" not in said(left)
