"""What a feature is and how features are found: its entries, views, commands, questions and jobs, by name.

Code is named as entry points name it, ``module:attribute``, and followed when somebody asks for it: a menu and a help
text import nothing of what they list. A module of this folder, or an entry point of the group ``invariscope.features``
of an installed package, has one :class:`Feature`. What cannot be imported is told in a sentence, and the rest works.
"""

import importlib
import logging
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

from core.errors import NotAvailable
from core.registry import STRANGERS, BrokenPlugin, Catalogue, discover, sentence
from core.settings import ROOT

GROUP = "invariscope.features"  # entry points of installed packages that hold a feature

_log = logging.getLogger("invariscope.features")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a view, and where a report has what it shows."""

    part: str  # as the view calls it
    held: tuple[str, ...] = ()  # ids of what a report has of it; ``section:`` names a section of questions
    name: str = ""  # what it is called where a report says that it is not given
    # why a report does not hold it; empty where it does. With ``held``: why one that has none of these does not.
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the dashboard's menu: a page, behind which one view or several lie."""

    file: str  # seen from the folder of ``app.py``, e.g. ``pages/findings.py``; absolute in its own package.
    title: str  # in the menu, and above each of its views
    icon: str  # of Material Symbols, e.g. ``:material/tune:``.
    place: int  # in the menu, lower first; the trunk's own are multiples of ten
    listed: bool = True  # whether it stands in the menu; else only links lead to it

    @property
    def name(self) -> str:
        """The last word of its address."""
        return Path(self.file).stem


@dataclass(frozen=True, slots=True)
class View:
    """What an entry shows at a time."""

    name: str  # in links, stories and reports; an address of this name leads on to it
    title: str  # in the switch between the views of its entry
    code: str  # ``module:function`` that draws it
    entry: str  # name of the entry that it belongs to
    place: int = 10  # among the entry's views, lower first; the first one opens
    parts: tuple[Part, ...] = ()  # where a report has what it shows; none for a view without its own number


@dataclass(frozen=True, slots=True)
class Command:
    """A command of ``python -m core``."""

    name: str  # the word that is typed
    code: str  # ``module:function``, whose module may have an ``EPILOG``, or ``module:group``, a ``typer.Typer``
    summary: str  # its line in the list of commands
    place: int  # in that list, lower first; the trunk's own are multiples of ten


@dataclass(frozen=True, slots=True)
class QuestionMaker:
    """What gives questions to a table of scores (:mod:`core.analysis.questions`)."""

    code: str  # ``module:function``, from a :class:`core.analysis.table.ScoreTable` to a tuple of questions
    before: str = ""  # maker of the trunk, ``module:function``, before whose questions they stand; empty: behind all


@dataclass(frozen=True, slots=True)
class JobKind:
    """A kind of jobs (:mod:`core.jobs`)."""

    kind: str  # the word in a job's file; empty: of a file that names none
    code: str  # ``module:class``, a :class:`core.jobs.request.OneCommand`


@dataclass(frozen=True, slots=True)
class Feature:
    """What a feature hands to the trunk."""

    name: str  # of its folder
    summary: str  # what it gives a reader, in a sentence
    entries: tuple[Entry, ...] = ()  # of the menu, that are its own
    views: tuple[View, ...] = ()  # in entries, its own or others'
    commands: tuple[Command, ...] = ()  # of the command line
    questions: tuple[QuestionMaker, ...] = ()  # makers of questions to the scores, for Results, the report and the API
    jobs: tuple[JobKind, ...] = ()  # what can be put in line
    # ``module:function``, from a :class:`core.analysis.table.ScoreTable` to a paragraph of the methods of a report on
    # it
    methods: tuple[str, ...] = ()


@cache
def features() -> Catalogue[Feature]:
    """Every feature of this installation; one that takes what an earlier one has is among the broken ones."""
    found = discover("feature", package="core.features", group=GROUP, accept=_marked)
    known = {entry.name for feature in found for entry in feature.entries}
    taken, kept, broken = set[tuple[str, str]](), dict[str, Feature](), list(found.broken)
    for feature in found:
        if wrong := _refused(feature, taken, known):
            broken.append(BrokenPlugin(feature.name, wrong))
            continue
        taken.update(_claims(feature))
        kept[feature.name] = feature
    return Catalogue(found.kind, MappingProxyType(kept), tuple(broken))


def entries() -> tuple[Entry, ...]:
    """Every entry, in the order of the menu."""
    return tuple(sorted(chain.from_iterable(each.entries for each in features()), key=lambda entry: entry.place))


def views() -> tuple[View, ...]:
    """Every view: entry by entry in the order of the menu, the one that opens first."""
    order = {entry.name: place for place, entry in enumerate(entries())}
    found = [view for each in features() for view in each.views if view.entry in order]
    return tuple(sorted(found, key=lambda view: (order[view.entry], view.place)))


VIEW = "view"  # parameter of a link that names the view of an entry; the one that opens needs none


def address(view: str) -> tuple[str, dict[str, str]]:
    """File of the entry that holds a view, and the parameters of its link; raises KeyError if there is no view of this
    name."""
    found = {each.name: each for each in views()}[view]
    file = next(each.file for each in entries() if each.name == found.entry)
    first = next(each.name for each in views() if each.entry == found.entry)
    return file, {} if view == first else {VIEW: view}


def parts() -> Mapping[tuple[str, str], Part]:
    """(view, part) -> that part, in the order of the menu."""
    return {(view.name, part.part): part for view in views() for part in view.parts}


def commands() -> tuple[Command, ...]:
    """Every command, in the order of the list of commands."""
    return tuple(sorted(chain.from_iterable(each.commands for each in features()), key=lambda command: command.place))


def question_makers() -> Iterator[tuple[QuestionMaker, Callable[..., Any]]]:
    """The makers of questions that can be imported; of another one a sentence is logged."""
    for maker in chain.from_iterable(each.questions for each in features()):
        for found in _importable(maker.code):
            yield maker, found


def methods(table: object) -> tuple[str, ...]:
    """What features say of the methods of a report on a table of scores, a paragraph each, where they can be asked."""
    codes = chain.from_iterable(each.methods for each in features())
    return tuple(found(table) for code in codes for found in _importable(code))


def _importable(code: str) -> Iterator[Callable[..., Any]]:
    """What a name stands for; of one that cannot be imported a sentence is logged, and nothing is there."""
    try:
        found = follow(code)
    except NotAvailable as error:
        _log.warning("%s", error)
        return
    assert callable(found)
    yield found


def job_kind(kind: str) -> object:
    """The class of a kind of jobs; None where no feature has it. Raises NotAvailable if it cannot be imported."""
    known = {each.kind: each.code for feature in features() for each in feature.jobs}
    return follow(known[kind]) if kind in known else None


def follow(code: str) -> object:
    """Import what ``module:attribute`` names; raises NotAvailable if it cannot be imported."""
    module, _, name = code.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except STRANGERS as error:
        owner = next((each.name for each in features() if code in _codes_of(each)), "")
        whose = f"the feature {owner} is not whole: " if owner else ""
        raise NotAvailable(f"{whose}{code} cannot be imported ({sentence(error)}); the rest works") from error


def troubles(*, followed: bool = False) -> tuple[str, ...]:
    """A sentence for each feature that is not there as a whole. ``followed``: import questions and jobs too, and
    commands; else only what is known without."""
    found = [f"the feature {each.where} cannot be used ({each.error}); the rest works" for each in features().broken]
    for code in chain.from_iterable(map(_codes_of, features())) if followed else ():
        try:
            follow(code)
        except NotAvailable as error:
            found.append(str(error))
    return tuple(found)


def _codes_of(feature: Feature) -> Iterator[str]:
    yield from (each.code for each in feature.commands)
    yield from (each.code for each in feature.questions)
    yield from (each.code for each in feature.jobs)
    yield from feature.methods


def _marked(value: object) -> list[tuple[str, Feature]]:
    """A feature, apart from another one of its name: which of them is left out is said later."""
    return [(f"{value.name} {id(value)}", value)] if isinstance(value, Feature) else []


def _claims(feature: Feature) -> Iterator[tuple[str, str]]:
    yield "name", feature.name
    yield from (("page", entry.name) for entry in feature.entries)
    yield from (("page", view.name) for view in feature.views if view.name != view.entry)
    yield from (("view", view.name) for view in feature.views)
    yield from (("command", command.name) for command in feature.commands)
    yield from (("kind of jobs", job.kind) for job in feature.jobs)


def _refused(feature: Feature, taken: Container[tuple[str, str]], known: Container[str]) -> str:
    twice = [f"{kind} {name!r}" for kind, name in _claims(feature) if (kind, name) in taken]
    missing = [entry.file for entry in feature.entries if not (ROOT / entry.file).is_file()]
    lost = [view for view in feature.views if view.entry not in known]
    if twice:
        return f"another feature has the {twice[0]}"
    if missing:
        return f"its page {missing[0]} is missing"
    return f"its view {lost[0].name!r} is of an entry {lost[0].entry!r} that nobody has" if lost else ""
