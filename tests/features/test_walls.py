"""Who may import whose code: the trunk no feature, and a feature only those others that are named here."""

from collections.abc import Iterator
from functools import cache

from core.features import feature
from tests.test_house import ENDS, ROOMS, imported

BESIDE = {"core.human": "human"}
"""Room or module -> the feature whose it is, of those that are not in its folder: a former address."""

STILL = {
    "api": {"geometry", "human", "suites", "systems"},
    "commands": {"geometry", "human", "suites", "systems"},
    "report": {"calibration", "geometry", "human", "suites", "systems"},
}
"""Room of the trunk -> features whose tables it still puts into the report by their names."""

KNOWN = {("calibration", "human"), ("compare", "metric_check"), ("metric_check", "lab"), ("selfcheck", "metric_check")}
"""A feature and another one that it builds on."""


@cache
def handed() -> dict[str, str]:
    """Module -> the feature that hands its code to the trunk, for those beside the features' folders."""
    return {
        code.partition(":")[0]: found.name
        for found in feature.features()
        if found.name != "trunk"
        for code in (each.code for each in (*found.commands, *found.questions))
    }


@cache
def feature_of(module: str) -> str:
    """The feature that a module of core is of; empty for the trunk's and the pages'."""
    parts = module.split(".")
    if module in handed():
        return handed()[module]
    if module.startswith("core.commands._"):  # what one command alone uses is that command's
        users = {feature_of(name) for name, others in imported().items() if module in others}
        return users.pop() if len(users) == 1 else ""
    if parts[:2] == ["core", "features"]:
        return parts[2] if len(parts) > 3 else ""
    return next((of for name, of in BESIDE.items() if f"{module}.".startswith(f"{name}.")), "")


def crossings() -> Iterator[tuple[str, str]]:
    """(module of core, feature of a module that it imports), where these are of two."""
    for name, others in imported().items():
        if name.startswith("core."):
            yield from ((name, of) for other in others if (of := feature_of(other)) not in ("", feature_of(name)))


def test_the_trunk_imports_no_feature_but_where_it_is_said() -> None:
    of_trunk = {(name, of) for name, of in crossings() if not feature_of(name)}
    assert not {(name, of) for name, of in of_trunk if of not in STILL.get(name.split(".")[1], ())}
    assert STILL.keys() <= {*ROOMS, *ENDS}


def test_a_feature_knows_no_feature_but_those_named() -> None:
    assert not {(feature_of(name), of) for name, of in crossings() if feature_of(name)} - KNOWN
    assert len(KNOWN) <= 6
    assert {name for pair in KNOWN for name in pair} <= {*feature.features().names()}
    assert {*BESIDE.values()} <= {*feature.features().names()}
