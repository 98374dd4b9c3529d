"""Run an audit: choose, see what it costs, start it as a job, watch it, cancel it, resume it."""

import pandas as pd
import streamlit as st

from core.analysis.planned import drifting, planned, prior
from core.analysis.verdicts import MARGIN
from core.api.progress_lines import duration
from core.audit.estimate import Estimate, estimate
from core.audit.fingerprints import cores, has_ray
from core.audit.plan import Plan, make_plan
from core.errors import InvalidInput, InvariscopeError
from core.jobs import job_queue
from core.jobs.request import AuditJob
from core.probes.titles import family_title
from core.settings import runs_dir
from pages.views.common.access import operates, operators_only
from pages.views.common.layers import answered, button, tell_answer
from pages.views.common.open_runs import present, store
from pages.views.common.page_drawings import NUMBER, draw_table
from pages.views.common.page_head import header
from pages.views.common.text import counted, listed, safe, thousands
from pages.views.common.url_state import PageState
from pages.views.run_audit.audit_jobs import draw_jobs, running
from pages.views.run_audit.audit_setup import CLUSTER, Asked, choose_audit, run_state

_UNTOLD = "A corpus or edit of your own is run by the audit alone, never by this server, so its cost is not told here."


def _draw_cost(state: PageState, asked: Asked) -> None:
    st.header("What it costs", anchor=False)
    request, told, problem = asked.request, None, asked.missing
    if request is not None and asked.corpus is not None:
        try:
            plan, ray = make_plan(asked.corpus, request), request.cluster is not None
            told = estimate(plan, runs_dir(), workers=request.workers, device=request.device, cluster=ray)
        except InvariscopeError as error:
            problem = str(error)
    if told is None:
        wrong = asked.wrong or (bool(problem) and not asked.missing)
        (st.error if wrong else st.info)(safe(problem or _UNTOLD, limit=600))
    else:
        _numbers(told)
        if problem := _obstacle(told):
            st.error(safe(problem, limit=600), icon=":material/error:")
    button(
        "Start the audit",
        "play_arrow",
        "run.start",
        _start,
        state,
        request,
        type="primary",
        disabled=bool(problem),
        width="stretch",
        help="It runs outside the browser: close this page, it goes on. One audit runs at a time, others wait in line.",
    )
    tell_answer(st.session_state.pop("run.said", None))
    if told is not None and request is not None and asked.corpus is not None:
        _power(make_plan(asked.corpus, request), told.cost.items)
    with st.expander("Workers, machines, metric by metric", icon=":material/memory:"):
        _workers(state)
        if told is not None:
            _machines(told)
            calls = [
                {
                    "Metric": each.name,
                    "Model calls": each.inputs,
                    "Reads": "unique images and captions" if each.dual else "pairs",
                    "Time": "unknown" if each.seconds is None else f"about {duration(each.seconds)}",
                }
                for each in told.work
            ]
            draw_table(pd.DataFrame(calls), width="stretch", alt="Model calls and time of each metric")
    if request is not None:
        with st.expander("The same in a shell", icon=":material/terminal:"):
            st.caption("In the folder of the checkout:")
            st.code(request.shell(), language="shell", wrap_lines=True)


def _workers(state: PageState) -> None:
    left, right = st.columns(2) if has_ray() else (st.container(), None)
    cluster = st.session_state.get(CLUSTER)
    left.number_input(
        "Workers",
        min_value=1,
        max_value=4096 if cluster else cores(),
        step=1,
        key=state.key("workers"),
        width=200,
        help="Processes that render and score, each with its own models: faster with cores and memory for them. "
        "The tables are the same to the bit for as many threads each.",
    )
    if right is not None:
        hint = "Address of a cluster that exists, HOST:6379 or auto; its actors are the workers. Not in the link."
        right.text_input("Ray cluster", key=CLUSTER, max_chars=300, placeholder="This machine", help=hint)


def _numbers(told: Estimate) -> None:
    cost = told.cost
    with st.container(key="run_cost"):
        cells = st.grid(4, min_column_width=66, gap="small")
    for label, value, help_text in (
        ("Pictures", thousands(cost.items), "Of the corpus."),
        (
            "Calls",
            thousands(told.inputs),
            f"Model calls: what enters the metrics, at most, of {thousands(cost.images)} unique images and "
            f"{thousands(cost.captions)} unique captions, unedited and edited. A dual encoder reads every one of these "
            "once, any other metric every pair; up to 32 go in together. It is not pictures × "
            "edits × metrics: an edit of pictures makes no new caption, one of captions no new picture, equal captions "
            "count once, and the unedited count too.",
        ),
        (
            "Time",
            _time(told),
            "By the speed that earlier runs with this machine's processor and as many threads a "
            "worker measured, model by model, if no worker slows another; where none has, from the fastest to the "
            "slowest of any earlier runs; unknown where there is none.",
        ),
        (
            "Disk",
            _size(told.working_bytes),
            f"While it runs, about; {_size(told.kept_bytes)} stay. {_size(told.free_bytes)} are free.",
        ),
    ):
        cells.metric(label, value, help=help_text)
    if told.unmeasured:
        named, threads = safe(listed(told.unmeasured), limit=300), counted(told.threads, "thread")
        how = "unknown" if told.between is None else "as on other machines"
        st.caption(f"Time {how}: no run here measured {named} with {threads} a worker yet.")


def _time(told: Estimate) -> str:
    if told.seconds is not None or told.between is None:
        return "unknown" if told.seconds is None else duration(told.seconds)
    unit, called = next(
        (size, name) for size, name in ((3600, "h"), (60, "min"), (1, "s")) if told.between[1] >= 2 * size or size == 1
    )
    ends = (f"{each / unit:.0f}" if each >= 10 * unit else f"{each / unit:.2g}" for each in told.between)
    return f"{'–'.join(dict.fromkeys(ends))} {called}"


def _machines(told: Estimate) -> None:
    left, right = st.columns(2)
    machines = left.number_input("Machines like this one", 1, 10_000, 1, key="run.machines")
    hint = "In your own currency. It is not kept and not sent anywhere."
    price = right.number_input(
        "Price of one for an hour", 0.0, 1e6, value=None, key="run.price", placeholder="None", help=hint
    )
    seconds, shards = told.seconds_on(machines), counted(told.shards, "shard")
    workers = counted(told.workers, "worker")
    held = f"Each has at most {_size(told.weights_mb * 1e6)} of weights in {workers}."
    if told.cluster:
        each = _size(told.worker_mb * 1e6)
        held = f"Each worker has at most {each} of weights, the {workers} {_size(told.weights_mb * 1e6)}."
    if seconds is None:
        st.caption(f"{shards}; the time is not known. {held}")
        return
    cost = "" if price is None else f", at that price {told.price(machines, price):,.2f}"
    st.markdown(f"**About {duration(seconds)}**{cost}")
    among = counted(told.workers_on(machines), "worker")
    st.caption(f"{shards}, shared out as wholes among {among}; scoring alone, at the speed measured here. {held}")


def _power(plan: Plan, items: int) -> None:
    names, families = tuple(spec.name for spec in plan.specs), drifting(plan.probes)
    before = _prior(present(), names, families, plan.corpus.name, plan.subjects[0])
    found = planned(before, evaluators=names, families=families, n=items)
    first, *rest = found.sentences(called=family_title)
    st.markdown(
        f"**What it could show.** {safe(first, limit=900)}",
        help="The smallest drift whose 95 % interval would exclude 0 in four audits of five. How far items scatter is "
        "taken from the stored run that is named; it falls with the root of the number of items.",
    )
    if not rest and found.table.empty:
        return
    with st.expander("What it could show, edit by edit", icon=":material/table:"):
        for sentence in rest:
            st.caption(safe(sentence, limit=900))
        if found.table.empty:
            return
        alt = "Smallest drift of each family under each metric"
        order = ("family", "evaluator", "n_items", "detectable", "needed", "run", "n_prior")
        columns = {
            "family": "Edits",
            "evaluator": "Metric",
            "n_items": NUMBER("n items", help="Expected: not every item can be edited so"),
            "detectable": NUMBER("Smallest drift", format="%.2f %%"),
            "needed": NUMBER(
                f"n for ±{MARGIN:g} %",
                help="Items that would place a drift of none within that margin, in four audits of five",
            ),
            "run": "Scatter as in run",
            "n_prior": NUMBER("n there", help="Items of that run behind the scatter"),
        }
        draw_table(found.table, width="stretch", alt=alt, column_order=order, column_config=columns)


@st.cache_data(max_entries=32, show_spinner="Looking at earlier runs …")
def _prior(files: str, names: tuple[str, ...], families: tuple[str, ...], corpus: str, subject: str) -> pd.DataFrame:
    return prior(store(files), evaluators=names, families=families, corpus=corpus, subject=subject)


def _obstacle(told: Estimate) -> str:
    for each in told.work:
        if not each.available.ready:
            return f"{each.name} is not available: {each.available.reason}. Get it with: {each.available.command}"
    if not told.fits:
        return (
            f"The run needs about {_size(told.working_bytes)} and {_size(told.free_bytes)} are free; "
            "free some space or take fewer items."
        )
    return ""


@operators_only
def _start(state: PageState, request: AuditJob | None) -> None:
    if request is None:
        return

    def start() -> str:
        active = [job for job in job_queue.list_jobs()[0] if job.status in job_queue.ACTIVE]
        same = [job for job in active if job.request.model_copy(update=alone) == request.model_copy(update=alone)]
        if same and request.run_id is None:
            raise InvalidInput(f"The same audit is in line already as {same[0].id}. Give a run id to start it twice.")
        job = job_queue.start(request)
        state.put("run_id", "")
        return f"{job.id} was put in line, among the jobs. Closing this page does not stop it."

    alone = {"run_id": None}
    answered(start, "run.said")


def _size(size: float) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{max(size / 1e6, 0.1):,.1f} MB"


_FIRST = "run.jobs.first"


def draw() -> None:
    """Draw the view."""
    if not operates():
        return
    state = run_state()
    state.restore()
    told = "Score your pictures with your metrics under the edits you choose."
    header(told, state, words=("item", "corpus", "evaluator", "probe"))
    left, right = st.columns([6, 5], gap="large")
    with left:
        asked = choose_audit(state)
    state.publish()
    with right:
        st.session_state[_FIRST] = running() or st.session_state.get(_FIRST, False)
        if st.session_state[_FIRST]:  # what goes on stands first, and stays there when it ends
            draw_jobs()
            _draw_cost(state, asked)
        else:
            _draw_cost(state, asked)
            draw_jobs()
