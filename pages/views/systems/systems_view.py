"""Systems: captioners on a leaderboard, how far its order can be trusted, and one's own captions below."""

from collections.abc import Callable
from functools import partial

import pandas as pd
import streamlit as st

from core.charts.spec import signed
from core.features.systems.system_board import systems_of
from core.features.systems.system_captions import told_as, wide
from core.features.systems.system_figures import scale_shares, system_ranks
from core.features.systems.system_file import Leaderboard, as_bytes
from core.probes.titles import title
from core.report.document import p_value
from core.scoring.reference_metrics import METRICS, TOKENIZER
from pages.views.common.collect import Origin, data_buttons, figure_buttons, figures_of, file_button
from pages.views.common.layers import button, draw_folded
from pages.views.common.page_drawings import NUMBER, TEXT, draw_figure, draw_table
from pages.views.common.page_head import drawn, header
from pages.views.common.shown_answers import interval
from pages.views.common.text import counted, moment, number, safe
from pages.views.common.url_state import PageState
from pages.views.systems import new_board
from pages.views.systems.kept_board import HEADS, INTERVAL, draw_behind, draw_top, ranks_said

CHECK = "systems.check"  # session key of the check that is shown


def _draw_checks(made: Leaderboard, tables: Callable[[str], pd.DataFrame], evaluator: str) -> None:
    checks: dict[str, Callable[[], None]] = {
        "Edit by edit": lambda: _draw_edits(tables("swaps"), tables("edits"), tables("places"), evaluator),
        "Equal length": lambda: _draw_length(tables("equal-length"), evaluator),
        "Other metrics": lambda: _draw_agreement(tables("agreement")),
        "Caption health": lambda: _draw_health(tables("health")),
        "Best of several": lambda: _draw_picks(tables("picks"), tables("picked-systems")),
        "Other scales": lambda: _draw_scales(tables("scales"), tables("scale-bins"), evaluator),
        "References": lambda: _draw_beside(tables("references")),
        SOURCE: partial(_draw_origin, made),
    }
    if made.beside.empty:
        del checks["References"]
    if st.session_state.get(CHECK) not in checks:
        st.session_state[CHECK] = next(iter(checks))
    st.segmented_control("Check", tuple(checks), key=CHECK, required=True, label_visibility="collapsed")
    checks[st.session_state[CHECK]]()


SOURCE = "Source"  # the check that says where a leaderboard is from, and hands it out


def _draw_origin(made: Leaderboard) -> None:
    for sentence in (*made.left_out, *made.remarks):
        st.caption(safe(sentence, limit=300))
    prints = ", ".join(f"{each}, fingerprint {key}" for each, key in made.evaluators.items())
    st.caption(
        f"Corpus {safe(made.corpus)}, scored {safe(moment(made.created))} by {safe(prints, limit=600)}, Invariscope "
        f"{safe(made.version)}, seed {made.seed}."
    )
    file_button(
        "The leaderboard as a file", lambda: as_bytes(made), f"{made.name}.parquet", key="systems.file", icon="download"
    )


def _draw_ranks(made: Leaderboard, every: pd.DataFrame, evaluator: str) -> None:
    rows = every[every["evaluator"] == evaluator]
    ranks = system_ranks(every, order=tuple(rows["system"]))
    alt = "Rank of every system by every metric, with 95 % intervals"
    draw_figure(ranks, key="systems.ranks", alt=alt, clicked=partial(draw_behind, made, "ranks"))
    st.caption(
        "Rank 1 has the highest mean. The interval holds the middle 95 % of the ranks in bootstrap samples of "
        "pictures; among many nearly equal systems it is too short, and sure ranks are the safe reading."
    )
    figure_buttons(ranks, every, "systems-ranks", title="Ranks of systems", key="systems.ranks.files")
    order = ("rank", "system", "mean", "mean_interval", "sure", "ranks", "first", "n_items", "own_mean", "own_n")
    draw_table(
        rows.assign(
            ranks=ranks_said(rows),
            sure=ranks_said(rows, "sure"),
            mean_interval=interval(rows, "low", "high", 4, False)[0],
            first=100 * rows["first"],
        ),
        alt="Standings in numbers",
        column_order=order,
        column_config=HEADS
        | {
            "mean": NUMBER("Mean", format="%.4f"),
            "mean_interval": INTERVAL,
            "first": NUMBER("First, %", format="%.1f", help="Share of samples in which nobody is above"),
            "own_mean": NUMBER("Own mean", format="%.4f", help="Over all pictures of the system itself"),
            "own_n": NUMBER("Own n"),
        },
    )
    data_buttons(every, "systems-standings", key="systems.standings")


_NEIGHBOURS = HEADS | {
    "evaluator": None,
    "edits": "Edits",
    "gap": NUMBER("Gap", format="%.4f"),
    "gap_before": NUMBER("Gap before", format="%.4f"),
    "gap_after": NUMBER("Gap after", format="%+.4f"),
    "least_n": "n pictures",
    "n_items": "n pictures",
    "probability": NUMBER("Swaps, %", format="%.1f", help="Samples of pictures in which the two means change order"),
    "chance": NUMBER("Without an edit, %", format="%.1f", help="Swaps in other samples of pictures alone"),
    "probe": "Edit",
}

_LEADS = {
    "least_n": NUMBER("n pictures", help="Of the edit with the fewest"),
    "flips": NUMBER("Lead flips, %", format="%.1f", help="Of edited pictures; a tie made or broken counts"),
    "sides": NUMBER("Without ties, %", format="%.1f", help="Of edited pictures; only a lead that changes sides counts"),
    "tied_before": NUMBER("Tied before"),
    "tied_after": NUMBER("Tied after"),
    "n_pictures": NUMBER("n pictures, leads"),
    "n_pairs": NUMBER("n edited pictures"),
}


def _draw_beside(every: pd.DataFrame) -> None:
    wide = every.pivot_table(index="system", columns="metric", values="value", sort=False).reset_index()
    alt = "Metrics of references of every system"
    draw_table(wide, alt=alt, column_config=HEADS | {name: NUMBER(name, format="%.4f") for name in METRICS})
    st.caption(
        f"On the {counted(int(every['n_items'].iloc[0]), 'picture')} that every system captions and that "
        f"{'has' if every['n_items'].iloc[0] == 1 else 'have'} references. Words: {TOKENIZER}. ROUGE-L and "
        "CIDEr-D rank systems as the metrics above do; BLEU and METEOR are of all captions together and do not."
    )
    draw_table(
        every.assign(interval=interval(every, "low", "high", 4, False)[0]),
        column_order=("system", "metric", "value", "interval", "n_items", "note"),
        alt="Metrics of references with their intervals",
        column_config=HEADS | {"metric": "Metric", "value": NUMBER("Value", format="%.4f")},
    )
    data_buttons(every, "systems-references", key="systems.references")


def _draw_differences(every: pd.DataFrame, evaluator: str) -> None:
    rows = every[every["evaluator"] == evaluator]
    if rows.empty:
        st.caption("One system has nobody to differ from.")
        return
    sure, tests = int(rows["sure"].sum()), int(rows["p_holm"].notna().sum())
    st.markdown(
        f"**{sure} of {counted(len(rows), 'difference')}** {'is' if sure == 1 else 'are'} sure: Holm's p below "
        f"0.05 over the {counted(tests, 'pair')} that can be tested, and an interval on one side of zero. "
        + ("" if tests == len(rows) else "Systems that are equal on every picture are no test.")
    )
    draw_table(
        rows.assign(
            interval=interval(rows, "low", "high", 4, True)[0],
            p=rows["p"].map(p_value),
            p_holm=rows["p_holm"].map(p_value),
        ),
        column_order=("higher", "lower", "difference", "interval", "sure", "p_holm", "p", "test", "n_items", "note"),
        alt="Every pair of systems",
        column_config=HEADS
        | {
            "difference": NUMBER("Difference", format="%+.4f"),
            "test": "Test",
            "p": TEXT("p", alignment="right"),
            "p_holm": TEXT("p, Holm", alignment="right"),
            "sure": "Sure",
        },
    )
    data_buttons(every, "systems-differences", key="systems.differences")


def _draw_edits(swaps: pd.DataFrame, edits: pd.DataFrame, places: pd.DataFrame, evaluator: str) -> None:
    rows = swaps[swaps["evaluator"] == evaluator]
    if rows.empty:
        st.caption("No edit was scored, or one system has no neighbour: choose harmless edits for a new leaderboard.")
        return
    shown = _percent(rows[rows["n_pairs"] > 0])
    shares = {name: 100 * shown[name] for name in ("flips", "flips_low", "flips_high", "sides")}
    shown = shown.assign(**shares)
    draw_table(
        shown.assign(interval=interval(shown, "flips_low", "flips_high", 1, False)[0]),
        column_order=(
            *("family", "higher", "lower", "gap", "edits", "swapped", "probability", "chance", "least_n"),
            *("flips", "interval", "sides", "tied_before", "tied_after", "n_pictures", "n_pairs", "note"),
        ),
        alt="Swaps of neighbours by family",
        column_config=_NEIGHBOURS | _LEADS | {"swapped": "Means swapped"},
    )
    data_buttons(swaps, "systems-swaps", key="systems.swaps.numbers")
    own = edits[(edits["evaluator"] == evaluator) & (edits["n_items"] > 0)]
    columns = _NEIGHBOURS | {"swapped": "The means swap"}
    draw_table(_percent(own.assign(probe=own["probe"].map(title))), alt="Swaps by edit", column_config=columns)
    data_buttons(edits, "systems-edits", key="systems.edits.numbers")
    own = places[(places["evaluator"] == evaluator) & (places["least_n"] > 0)]
    if own.empty:
        st.caption("No ranks under edits: no edited picture was scored with every captioner's caption.")
    else:
        order = ("family", "system", "ranks", "edits", "least_n", "note")
        alt = "Rank intervals under each family"
        draw_table(own.assign(ranks=ranks_said(own)), column_order=order, alt=alt, column_config=_NEIGHBOURS)
    data_buttons(places, "systems-places", key="systems.places.numbers")


def _percent(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(probability=100 * rows["probability"], chance=100 * rows["chance"])


def _draw_length(every: pd.DataFrame, evaluator: str) -> None:
    rows = every[every["evaluator"] == evaluator]
    first = rows.iloc[0]
    if pd.isna(first["slope"]):
        st.caption(f"No slope: {safe(str(first['note']))}.")
        return
    bounds = "no interval"
    if not pd.isna(first["slope_low"]):
        bounds = f"95 % CI {number(first['slope_low'], digits=4)} to {number(first['slope_high'], digits=4)}"
    moved = int((rows["rank"] != rows["rank_as_is"]).sum())
    st.markdown(
        f"A word more is worth **{number(first['slope'], digits=4)}** ({bounds}). With captions of one length, "
        f"**{counted(moved, 'system')}** would have another rank."
    )
    alt = "Standings at equal length"
    order = ("rank", "system", "ranks", "rank_as_is", "mean", "words", "n_items", "note")
    columns = HEADS | {
        "rank_as_is": NUMBER("Rank as it is"),
        "mean": NUMBER("Mean at equal length", format="%.4f"),
        "words": NUMBER("Words", format="%.1f"),
    }
    draw_table(rows.assign(ranks=ranks_said(rows)), alt=alt, column_order=order, column_config=columns)
    st.caption(
        "What a longer caption gains by saying more is taken out as well: this says how much of the ranking "
        "rests on length, and is no better ranking."
    )
    data_buttons(every, "systems-equal-length", key="systems.length")


def _draw_agreement(rows: pd.DataFrame) -> None:
    if rows.empty:
        st.caption("One metric has nobody to agree with; score the leaderboard by several.")
        return
    order = ("one", "other", "tau", "interval", "spearman", "spearman_interval", "n_systems", "n_items", "note")
    draw_table(
        rows.assign(
            interval=interval(rows, "low", "high", 2, True)[0],
            spearman_interval=interval(rows, "spearman_low", "spearman_high", 2, True)[0],
        ),
        column_order=order,
        alt="Agreement of every two metrics on the order of the systems",
        column_config=HEADS
        | {
            "one": "Metric",
            "other": "and",
            "tau": NUMBER("Kendall's τ_b", format="%+.2f"),
            "spearman": NUMBER("Spearman's ρ", format="%+.2f"),
            "spearman_interval": INTERVAL,
            "n_systems": NUMBER("n systems"),
        },
    )
    data_buttons(rows, "systems-agreement", key="systems.agreement")


def _draw_health(table: pd.DataFrame) -> None:
    st.caption(
        "What captioners that were trained on a metric's score learn to do: say words again, end in words about "
        "nothing or break off, grow longer, name what is not there."
    )
    values = wide(table)
    empty = {name for name in values.columns if values[name].isna().all()}
    shown = values.drop(columns=sorted(empty))
    columns = HEADS | {
        name: NUMBER(told_as(name).split(",")[0], format="%.2f", help=told_as(name))
        for name in shown.columns
        if name != "system"
    }
    draw_table(shown, alt="Health of every system's captions", column_config=columns)
    for name in [each for each in table["measure"].unique() if each in empty]:
        note = table.loc[table["measure"] == name, "note"].iloc[0]
        st.caption(f"No {safe(told_as(name).split(',')[0])}: {safe(str(note))}.")
    draw_table(
        table.assign(measure=table["measure"].map(told_as), interval=interval(table, "low", "high", 2, False)[0]),
        column_order=("system", "measure", "value", "interval", "n_captions", "note"),
        alt="Health in numbers",
        column_config=HEADS | {"measure": "Measure", "value": NUMBER("Value", format="%.2f")},
    )
    data_buttons(table, "systems-health", key="systems.health")


def _draw_picks(picks: pd.DataFrame, shares: pd.DataFrame) -> None:
    chosen = picks[picks["n_images"] > 0]
    if chosen.empty:
        st.caption("No picture has two captions with a score to pick from.")
        return
    st.caption(
        "Each metric picks the highest of a picture's captions, those of all systems together, ties shared. "
        "Hollow is one that ends in words about nothing, in its own words again, or breaks off."
    )
    for row in chosen.to_dict("records"):
        excess, low, high = (signed(row[name], digits=1, unit="") for name in ("excess", "excess_low", "excess_high"))
        bounds = f"95 % CI {low} to {high}" if row["excess_low"] == row["excess_low"] else "no interval"
        st.markdown(
            f"**{safe(row['evaluator'])}** picks a hollow caption for **{row['picked_hollow']:.1f} %** of "
            f"{counted(int(row['n_images']), 'picture')}; a blind pick would for {row['offered_hollow']:.1f} % "
            f"(difference {excess} points, {bounds})."
        )
    draw_table(
        shares.assign(interval=interval(shares, "low", "high", 1, False)[0]),
        column_order=("evaluator", "system", "picked", "interval", "offered", "n_images"),
        alt="Whose captions each metric picks",
        column_config=HEADS
        | {"picked": NUMBER("Picked, %", format="%.1f"), "offered": NUMBER("By a blind pick, %", format="%.1f")},
    )
    data_buttons(picks, "systems-picks", key="systems.picks")


def _draw_scales(every: pd.DataFrame, bins: pd.DataFrame, evaluator: str) -> None:
    rows, drawn = every[every["evaluator"] == evaluator], bins[bins["evaluator"] == evaluator]
    if rows.empty:
        st.caption("This score is no scaled cosine, so it has one scale.")
        return
    if drawn.empty:
        st.caption(f"No other scale: {safe(str(rows['note'].iloc[0]))}.")
        return
    here = rows[rows["used"].str.startswith("here")].iloc[0]
    st.markdown(
        f"A score is **w · max(cos, 0)**, here with w = {number(here['w'], digits=2)}. Another w moves means "
        "and differences, and nobody's rank."
    )
    figure = scale_shares(drawn)
    draw_figure(figure, key="systems.scales", alt=f"Share of the captions by score of {evaluator}, a line a scale")
    captions = counted(int(here["n_captions"]), "caption")
    st.caption(
        f"{captions} of all systems on {counted(int(here['n_items']), 'picture')}, unedited. Bins of 0.05 at "
        "every scale; the dotted line stands at 1. A line is no one set of pairs to open."
    )
    figure_buttons(figure, drawn, "systems-scale-bins", title=f"Scales, {evaluator}", key="systems.scales.files")
    draw_table(
        rows.assign(
            interval=interval(rows, "low", "high", 4, False)[0],
            above=interval(rows, "over_low", "over_high", 1, False)[0],
        ),
        alt="Scores at every scale",
        column_order=("w", "used", "mean", "interval", "p5", "p50", "p95", "over", "above", "n_captions", "n_items"),
        column_config=HEADS
        | {
            "w": NUMBER("w", format="%.2f"),
            "used": "Used by",
            "mean": NUMBER("Mean", format="%.4f"),
            "p5": NUMBER("5th percentile", format="%.4f"),
            "p50": NUMBER("Median", format="%.4f"),
            "p95": NUMBER("95th percentile", format="%.4f"),
            "over": NUMBER("Above 1, %", format="%.1f"),
            "above": INTERVAL,
        },
    )
    data_buttons(every, "systems-scales", key="systems.scales.numbers")


NEW = "Rank your own captions"


def draw() -> None:
    """Draw the view."""
    state = new_board.systems_state()
    state.restore()
    if made := st.session_state.pop("systems.made", None):  # scored a moment ago: show it
        state.put("show", "kept")
        state.put("board", made)
    header("Which captioner ranks above which, how surely, and would a harmless edit swap them?", state)
    with drawn(state):
        if state.get("show") == "kept" and new_board.boards():
            _board(state)
            return
        if new_board.boards():
            st.button("The leaderboard", icon=":material/arrow_back:", on_click=state.put, args=("show", "kept"))
        st.header(NEW, anchor=False)
        new_board.draw_new(state)


def _board(state: PageState) -> None:
    row = st.container(horizontal=True, vertical_alignment="bottom", key="systems_choice")
    hint = "The latest stands first"
    name = state.choose(row.container(width=260), "board", "Leaderboard", new_board.boards(), help=hint)
    known = new_board.stamp(name)
    made = new_board.opened(known)
    every = systems_of(made.rows)
    state.put("without", [each for each in state.get("without") if each in every][: len(every) - 1])
    systems = tuple(each for each in every if each not in state.get("without"))
    evaluator = state.choose(row.container(width=260), "judge", "Metric", tuple(made.evaluators))
    chosen = f"{len(systems)} of {len(every)}" if state.get("without") else f"all {len(every)}"
    with row.popover(f"Systems: **{chosen}**", key="systems.leave", disabled=len(every) == 1):
        st.multiselect(
            "Leave out",
            every,
            key=state.key("without"),
            placeholder="Nobody",
            max_selections=len(every) - 1 or None,
            help="Ranks are of the pictures that all others caption",
        )
    with row:
        button(NEW, "upload_file", "systems.new", state.put, "show", "new", type="primary")
    if new_board.is_example(name):
        st.markdown(
            f":blue-badge[Example] Stand-ins for captioners: {counted(len(every), 'kind')} of captions of the same "
            f"pictures (corpus {safe(made.corpus)}, run {safe(made.name)})."
        )
    if made.left_out:
        new_board.draw_sentences(
            (f"{counted(len(made.left_out), 'score')} missing, named under *More checks · {SOURCE}*",)
        )
    prints = ", ".join(f"{each}, fingerprint {key}" for each, key in made.evaluators.items())
    of = f"Leaderboard {made.name}, corpus {made.corpus}, scored {made.created} by {prints}"
    figures_of(Origin(state, (f"{of}, Invariscope {made.version}, seed {made.seed}")))
    tables = partial(new_board.computed, known, systems)
    draw_top(made, tables, evaluator)
    new_board.draw_sentences(() if new_board.is_example(name) else made.remarks)
    label = "Every captioner's numbers"
    draw_folded(label, lambda: _draw_ranks(made, tables("standings"), evaluator), key="systems.standing")
    label = "Which differences are sure?"
    draw_folded(label, lambda: _draw_differences(tables("differences"), evaluator), key="systems.pairwise")
    checks = partial(_draw_checks, made, tables, evaluator)
    draw_folded("More checks", checks, key="systems.more", icon=":material/checklist:")
