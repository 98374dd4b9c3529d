"""Signatures are stable, and read back as they were written."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.analysis.reading import read_table
from core.errors import InvalidInput
from core.report.document import FIELDS, LISTS, Report, parse_signature, signature, signature_of
from core.store.store import Store

names = st.text(min_size=1, max_size=20)
digits = st.text("0123456789abcdef", min_size=16, max_size=16)


def test_the_demo_run_has_the_signature_that_is_printed(paper_report: Report, demo: Store) -> None:
    known = (
        "invariscope:0.1.0|runs:demo|corpora:demo@1c1d4390|evaluators:conse-lite0@c2e808a4+conse-lite2@21ea389a"
        "+grounding-judge@91245316|subject:template|seed:2025|boot:10000|margin:1|sha:"
    )
    assert paper_report.signature.startswith(known)
    assert signature_of(read_table(demo), demo.runs()) == paper_report.signature
    read = parse_signature(paper_report.signature)
    assert read["corpora"] == ["demo@1c1d4390"]
    assert set(str(read["sha"])) <= set(string.hexdigits)


@given(
    st.fixed_dictionaries(
        {name: st.lists(names, max_size=4) if name in LISTS else digits if name == "sha" else names for name in FIELDS}
    )
)
def test_whatever_a_name_holds_it_is_read_back(values: dict) -> None:
    written = signature(values)
    assert parse_signature(written) == values
    assert not set(written) & set(" \n\t")


@pytest.mark.parametrize("text", ["", "BLEU|nrefs:1|case:mixed", "invariscope:0.1.0", "invariscope|runs:demo"])
def test_what_is_no_signature_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="a signature is invariscope:"):
        parse_signature(text)


def test_a_changed_sha_is_refused(paper_report: Report) -> None:
    with pytest.raises(InvalidInput, match="16 hexadecimal digits"):
        parse_signature(paper_report.signature + "x")


def test_a_missing_field_is_refused() -> None:
    with pytest.raises(InvalidInput, match="has the fields"):
        signature({"invariscope": "0.1.0"})
