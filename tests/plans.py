"""A plan of a corpus at hand, from what its request says."""

import tempfile
from pathlib import Path
from typing import Any

from core.audit.plan import Plan
from core.audit.plan import make_plan as planned
from core.audit.request import AuditRequest, choice_of
from core.corpora.schema import Corpus
from core.evaluators.video.formula import Idf


def make_plan(corpus: Corpus, *, subjects: Any = ("template",), idf: Idf | None = None, **asked: Any) -> Plan:
    """Plan an audit of the fields of a request, with the subjects themselves in place of their choice.

    Args:
        idf: document frequencies in place of their file.
        asked: fields of the request, and how the work is cut: shard_items, batch_size.
    """
    cut = {name: asked.pop(name) for name in ("shard_items", "batch_size") if name in asked}
    with tempfile.TemporaryDirectory() as folder:
        if idf is not None:
            asked["idf"] = Path(folder, "idf.json")
            asked["idf"].write_text(idf.model_dump_json(), encoding="utf-8")
        request = AuditRequest.of(**asked, corpus=corpus.name, subject=choice_of(tuple(subjects)))
        return planned(corpus, request, **cut)
