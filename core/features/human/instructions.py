"""What annotators read before the first item: ``assets/studies/instructions.toml``."""

import tomllib
from dataclasses import dataclass

from core import settings
from core.errors import StoreError
from core.features.human.kinds import KINDS


@dataclass(frozen=True, slots=True)
class Instructions:
    """Words for one kind of study.

    Args:
        title: one line.
        steps: what to do, in order.
        rules: how to judge.
    """

    title: str
    steps: tuple[str, ...]
    rules: tuple[str, ...]


def instructions(kind: str) -> Instructions:
    """Read the instructions of a kind.

    Raises:
        StoreError: if the file is gone or broken.
    """
    path = settings.assets_dir() / "studies" / "instructions.toml"
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
        found = {name: Instructions(str(told[name]["title"]), *_lists(told[name])) for name in KINDS}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{path} cannot be read ({error}); restore it from the checkout") from error
    return found[kind]


def _lists(told: dict[str, list[str]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(map(str, told["steps"])), tuple(map(str, told["rules"]))
