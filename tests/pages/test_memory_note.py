"""A reader sees where a device had no memory left for an evaluator."""

from streamlit.testing.v1 import AppTest


def drawn() -> None:
    import numpy as np

    from core.corpora.schema import Item
    from core.features.lab.lab import LabResult
    from core.scoring.workbench import Workbench
    from pages.views.probe_lab.lab_bars import Edited, charts

    note = "openai.pt: cuda has no memory for a single input; going on on the CPU."
    bench = Workbench(
        Item("item", "upload", None, 8, 8, captions={"en": ("A cat.",)}), np.zeros((8, 8, 3), dtype=np.uint8)
    )
    charts(bench, Edited(), LabResult("item", "upload", "0" * 64, "A cat.", 1, (), {}, {}, {}, {"clipscore": note}))


def test_the_probe_lab_says_where_memory_ran_short() -> None:
    app = AppTest.from_function(drawn, default_timeout=120).run()
    assert not app.exception
    (warning,) = app.warning
    assert "Memory ran short, the scores are whole." in warning.value
    assert "going on on the CPU" in warning.value
