"""The scope that all pages share: runs, corpus, subject, language and evaluators, in the link and on every page."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from core.analysis.scope import Narrowed, Scope, holdings, items_said, labels_said
from core.errors import InvalidInput
from pages.views.common.layers import button
from pages.views.common.open_runs import KEYED, Signature, held_values, narrowed, of_runs, scores, store
from pages.views.common.page_head import Chips, chips
from pages.views.common.text import counted, safe
from pages.views.common.url_state import Field, PageState, joined, one_of, some_of

_FIELDS = {"run": "runs", "corpus": "corpus", "subject": "subject", "language": "language", "evaluators": "evaluators"}
"""Name in the link -> field of :class:`Scope`, in the order in which they narrow each other."""

_WORDS = {"subject": "subject caption", "evaluators": "evaluator"}  # the others are called as in the link
_MANY = ("run", "evaluators")


def scope_fields(files: Signature) -> tuple[Field, ...]:
    """Fields of a page's state that hold the scope; they stand in its link and hold on every page."""
    held = {name: partial(held_values, files, "evaluator" if name == "evaluators" else name) for name in _FIELDS}
    return tuple(
        Field(name, [], some_of(known, what=_WORDS.get(name, name)), joined, shared=True)
        if name in _MANY
        else Field(name, None, one_of(known, None, what=_WORDS.get(name, name)), shared=True)
        for name, known in held.items()
    )


def choose_scope(
    state: PageState,
    files: Signature,
    *,
    row: Chips | None = None,
    across: bool = False,
    usual: Scope | None = None,
    without: Collection[str] = (),
) -> Narrowed:
    """Draw the scope as chips at the top of a page, with what it leaves out, and let it hold on every page. ``row``:
    where the chips are drawn; their own row by default. ``across``: say what is left out of every corpus, not of the
    one in view alone. ``without``: choices that the page draws in its own way, by name; they hold as the others do.
    ``usual``: the scope of a reader who chose nothing, e.g. one that prefers directional probes; None: Scope(). Returns
    what the scope comes to. A page's numbers are of the corpus in view: ``choose_scope(…).only()``. Raises InvalidInput
    if the runs have no score."""
    first = usual or Scope()
    runs, evaluators = (tuple(state.get(name)) for name in _MANY)
    corpus, subject, language = (state.get(name) for name in ("corpus", "subject", "language"))
    wanted = Scope(runs=runs, corpus=corpus, subject=subject, language=language, evaluators=evaluators)
    scope, undone = _possible(files, wanted, first)
    _keep(state, scope)
    found = narrowed(files, scope)
    offered = _offers(files, scope)
    row = row or chips(state)
    with row.scope:
        for each in offered:
            if (len(each.options) > 1 or each.chosen) and each.name not in without:
                _draw(state, each)
        if scope != first:
            hint = "Takes back every choice of this row"
            button("Reset scope", "undo", f"{state.page}.scope.usual", _keep, state, first, type="tertiary", help=hint)
    if undone:
        st.warning(" ".join(safe(each, limit=400) for each in undone), icon=":material/rule:")
    if problems := store(files).left_out:
        more = f" And {counted(len(problems) - 2, 'other file')}." if len(problems) > 2 else ""
        told = ". ".join(safe(each, limit=400) for each in problems[:2])
        st.warning(f"No number here rests on what cannot be read: {told}{more}", icon=":material/broken_image:")
    own = found if across else found.only()
    others = _elsewhere(files, found)
    if left_out := (*items_said(store(files).runs(), own.run_ids), *own.left_out, *others.values()):
        what = next(iter(others)) if len(others) == 1 else counted(len(others), "metric")
        label = f"Left out: {safe(what, limit=40)}" if others else "Left out"
        with row.notes, st.popover(label, icon=":material/info:", type="tertiary", key=f"{state.page}.scope.left"):
            st.markdown(safe(" ".join(left_out), limit=900))
    if labels := labels_said(store(files).runs(), own.run_ids):
        with (
            row.notes,
            st.popover("Labels", icon=":material/label:", type="tertiary", key=f"{state.page}.scope.labels"),
        ):
            st.markdown(safe(" ".join(labels), limit=900))
    state.share()
    return found


def _elsewhere(files: Signature, found: Narrowed) -> dict[str, str]:
    """Evaluators that other runs of the corpus in view have and its own run lacks, each with where it is, said."""
    rows = holdings(store(files))
    rows = rows[rows["corpus"] == found.corpus]
    others = rows[~rows["evaluator"].isin(rows.loc[rows["run"] == found.run, "evaluator"])]
    return {
        str(name): f"Run {', '.join(sorted(set(map(str, runs))))} has {name}, run {found.run} has not."
        for name, runs in others.groupby("evaluator")["run"]
    }


def say_withheld(files: Signature, scope: Narrowed) -> None:
    """Name the evaluators of a scope of whose scores no % change is told; nothing where there is none."""
    if told := scores(files, scope).withheld_said():
        st.caption(safe(told, limit=600))


@dataclass(frozen=True, slots=True)
class _Offer:
    name: str  # in the link
    options: Sequence[str]  # what can be chosen, the usual one first where one is
    chosen: bool  # whether the reader chose
    shown: str  # what stands on the chip
    about: Mapping[str, str]  # what is said of an option beside its name


CAPTIONS = {"template": "template", "human": "from the corpus"}
"""Subject -> whence its captions are. Not all corpora's are by people: the demo's are written by rule."""

_TITLES = {"run": "Run", "corpus": "Corpus", "subject": "Caption", "language": "Language", "evaluators": "Metrics"}
_HELP = {
    "run": "One audit: a corpus under edits, scored by metrics. Where nothing is chosen, the largest run of each "
    "corpus counts.",
    "corpus": "A named, ordered set of items. Every number is of this one; only Findings · Corpora and the report look "
    "at several.",
    "subject": "The caption that stays while the picture is edited: the template “There is a …” or the corpus's own of "
    "the item, which the command line calls human; the demo's are written by rule. An item counts once, so numbers "
    "are of one of them.",
    "language": "Of the captions.",
    "evaluators": "Anything that scores (image, caption) pairs.",
}


@of_runs
@st.cache_resource(hash_funcs=KEYED, max_entries=64, show_spinner=False)
def _offers(files: Signature, scope: Scope) -> tuple[_Offer, ...]:
    rows, found = holdings(store(files)), narrowed(files, scope)
    runs = rows.drop_duplicates("run").set_index("run")["corpus"]
    of_runs = rows[rows["run"].isin(scope.runs)] if scope.runs else rows
    own = of_runs[of_runs["corpus"] == found.corpus]
    captions = own[own["subject"] == found.subject]
    scored = captions[(captions["language"] == found.language) & (captions["run"] == found.run)]
    evaluators = tuple(sorted(scored["evaluator"].unique()))
    usual = {
        "corpus": narrowed(files, replace(scope, corpus=None, evaluators=())).corpus,
        "subject": narrowed(files, replace(scope, subject=None, language=None, evaluators=())).subject,
        "language": narrowed(files, replace(scope, language=None, evaluators=())).language,
    }
    here = {"corpus": of_runs, "subject": own, "language": captions}
    shown = {"corpus": found.corpus, "subject": CAPTIONS[found.subject], "language": found.language}
    runs_said = found.run if len(scope.runs) < 2 else counted(len(scope.runs), "run")
    about = {str(run): f"corpus {corpus}" for run, corpus in runs.items() if run != corpus}
    others = {name: sorted({*map(str, here[name][name].unique())} - {usual[name]}) for name in shown}
    singles = tuple(
        _Offer(name, (usual[name], *others[name]), getattr(scope, name) is not None, shown[name], {}) for name in shown
    )
    chosen = scope.evaluators
    said = (
        f"{len(chosen)} of {len(evaluators)}" if len(chosen) > 1 else chosen[0] if chosen else f"all {len(evaluators)}"
    )
    return (
        _Offer("run", tuple(sorted(runs.index)), bool(scope.runs), runs_said, about),
        *singles,
        _Offer("evaluators", evaluators, bool(chosen), said, {}),
    )


def _draw(state: PageState, offer: _Offer) -> None:
    name = offer.name
    place = st.popover(
        f"{_TITLES[name]}: **{safe(offer.shown, limit=40)}**", type="secondary", key=f"{state.page}.scope.{name}"
    )
    if name in _MANY:
        options = list(dict.fromkeys([*offer.options, *state.get(name)]))
        place.multiselect(
            _TITLES[name],
            options,
            key=state.key(name),
            help=_HELP[name],
            placeholder="All" if name != "run" else "The largest of each corpus",
            format_func=lambda value: " · ".join(filter(None, (value, offer.about.get(value, "")))),
        )
    else:
        words = CAPTIONS if name == "subject" else {}
        state.choose(
            place, name, _TITLES[name], offer.options, help=_HELP[name], format_func=lambda it: words.get(it, it)
        )


def _keep(state: PageState, scope: Scope) -> None:
    for name, field in _FIELDS.items():
        value = getattr(scope, field)
        state.put(name, list(value) if name in _MANY else value)


def _possible(files: Signature, wanted: Scope, first: Scope) -> tuple[Scope, list[str]]:
    """The choices possible together, and a sentence for each that is not. Raises InvalidInput without scores."""
    narrowed(files, first)
    scope, undone = first, list[str]()
    for field in _FIELDS.values():
        if not getattr(wanted, field):
            continue
        try:
            tried = replace(scope, **{field: getattr(wanted, field)})
            if field == "evaluators":
                tried = _of_the_run(files, tried)
            narrowed(files, tried)
        except InvalidInput as error:
            undone.append(f"{str(error)[:1].upper()}{str(error)[1:]}; the usual choice is shown instead.")
        else:
            scope = tried
    return scope, undone


def _of_the_run(files: Signature, scope: Scope) -> Scope:
    """The evaluators of a scope that scored the run in view. Raises InvalidInput if none of them did."""
    found = narrowed(files, replace(scope, evaluators=()))
    rows = holdings(store(files))
    rows = rows[(rows["run"] == found.run) & (rows["subject"] == found.subject) & (rows["language"] == found.language)]
    there = set(rows["evaluator"])
    kept = tuple(name for name in scope.evaluators if name in there)
    if not kept:
        many = ", ".join(scope.evaluators)
        raise InvalidInput(f"run {found.run} has no score of {many}; evaluators there: {', '.join(sorted(there))}")
    return replace(scope, evaluators=kept)
