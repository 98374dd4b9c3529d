"""The lines of ``assets/lexicons/compatibility.csv``: pairs ruled in or out by hand.

The first line that matches a pair decides; a pair that no line matches is accepted. Source: paper A, A.3.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from core.corpora.schema import CATEGORIES, EXTRA_CATEGORIES
from core.probes.tables import WILDCARD, Row, read_table
from core.probes.words.grammar import head_endings
from core.probes.words.lexicons import Family, Modifier, families

RULE_CODES = (
    "part-of-speech", "animacy", "implausible", "lexicalised", "false-origin", "colloquial", "lexical-gender",
    "literal-sense",
)  # fmt: skip
"""Codes that a line may give; what each means stands in :mod:`core.probes.rejections`."""

_COLUMNS = ("decision", "family", "modifier", "category", "label", "code", "reason")


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of ``compatibility.csv``; an empty tuple matches anything, but never a control by accident."""

    accepts: bool
    families: tuple[str, ...]
    modifiers: tuple[str, ...]
    categories: tuple[str, ...]
    labels: tuple[str, ...]
    code: str
    reason: str

    def matches(self, modifier: Modifier, category: str | None, endings: frozenset[str]) -> bool:
        """Whether the line is about this modifier before this noun."""
        return (
            (not self.families or modifier.family in self.families)
            and (modifier.word in self.modifiers or (not self.modifiers and not modifier.control))
            and (not self.categories or category in self.categories)
            and (not self.labels or not endings.isdisjoint(self.labels))
        )


def rule_out(every: tuple[Rule, ...], modifier: Modifier, category: str | None, noun: str) -> tuple[str, str] | None:
    """Return the code and the sentence of the line that keeps a pair out, or None where it is accepted."""
    endings = frozenset(head_endings(noun))
    for rule in every:
        if rule.matches(modifier, category, endings):
            return None if rule.accepts else (rule.code, rule.reason)
    return None


@cache
def rules(path: Path) -> tuple[Rule, ...]:
    """Read and check ``compatibility.csv``.

    Raises:
        InvalidInput: with the file, the line and the remedy.
    """
    rows = read_table(path, _COLUMNS)
    found = tuple(_rule(row, families()) for row in rows)
    controls = {word.word for each in families().values() for word in each.controls}
    for row, rule in zip(rows, found, strict=True):
        if controls.intersection(rule.modifiers):
            _leave_a_control(row, rule, found)
    return found


def _rule(row: Row, known: Mapping[str, Family]) -> Rule:
    accepts = row.one_of("decision", ("accept", "reject")) == "accept"
    code = "" if accepts else row.one_of("code", RULE_CODES)
    labels = tuple(label.casefold() for label in row.alternatives("label"))
    rule = Rule(
        accepts,
        row.alternatives("family"),
        row.alternatives("modifier"),
        row.alternatives("category"),
        labels,
        code,
        row.required("reason"),
    )
    _known_words(row, "family", rule.families, known)
    named = [known[name] for name in rule.families] or list(known.values())
    _known_words(row, "modifier", rule.modifiers, dict.fromkeys(word.word for each in named for word in each.words))
    _known_words(row, "category", rule.categories, CATEGORIES + EXTRA_CATEGORIES)
    for label in labels:
        if label not in head_endings(label):
            row.fail(f"the label {label!r} can match nothing; write the last one to four words of a noun")
    return rule


def _known_words(row: Row, column: str, words: Iterable[str], known: Iterable[str]) -> None:
    allowed = tuple(known)
    for word in words:
        if word not in allowed:
            row.fail(f"{column} {word!r} is not known; write {WILDCARD}, or some of {', '.join(allowed)} split by '|'")


def _leave_a_control(row: Row, rule: Rule, every: tuple[Rule, ...]) -> None:
    """Check that a modified caption always finds a length-matched baseline.

    Labels are matched by nested endings, so it is enough to look at the labels that the table names.
    """
    if rule.categories or not rule.labels:
        row.fail("it is about a control, so the category must be * and the labels must be named")
    for label in rule.labels:
        for each in families().values():
            if all(rule_out(every, word, None, label) is not None for word in each.controls):
                row.fail(f"no control of {each.name} is left before {label!r}; leave one to it")
