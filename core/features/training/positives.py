"""What PAC-S is trained on: pairs that people made, each with a generated picture and a generated caption.

The user generates them; how is no business of the training. Paper C takes Stable Diffusion and BLIP.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.corpora.corpus_files import inside
from core.corpora.images import read_image
from core.errors import BadCorpus, BadImage, InvalidInput
from core.features.training.sentences import rows_of

COLUMNS = ("image", "caption", "generated_image", "generated_caption")
"""v, t, v′, t′ of a row: pictures as paths beside the table, v′ made from t, t′ made from v. Source: paper C, 3.2."""
TABLES = ("positives.csv", "positives.jsonl")
"""What the table is called in a folder."""


@dataclass(frozen=True, slots=True)
class Augmented:
    """A pair with its positives."""

    image: str  # path of the picture as the table has it: pairs of one picture are held out together
    caption: str  # that people wrote
    # made_image, made_caption: what was generated
    made_image: str
    made_caption: str
    folder: Path  # that both paths start from

    @property
    def pictures(self) -> tuple[Path, Path]:
        """Files of both pictures."""
        return self.folder / self.image, self.folder / self.made_image


def read_positives(path: Path) -> tuple[tuple[Augmented, ...], dict[str, int]]:
    """Read a table of COLUMNS, CSV or JSON Lines, or the one of TABLES that a folder holds. Raises BadCorpus if there
    is no table, it cannot be read, or lacks a column; InvalidInput if a path leaves the folder, or no row is whole.
    Returns the pairs in their order, and how many rows were left out, by reason: ``blank-caption`` (by people),
    ``no-positive`` (no generated picture or caption named), ``missing-picture`` (a file that is not there)."""
    table = next((path / name for name in TABLES if (path / name).is_file()), None) if path.is_dir() else path
    if table is None:
        raise BadCorpus(f"{path} holds no {' or '.join(TABLES)}; give a table with the columns {', '.join(COLUMNS)}")
    found, left_out = list[Augmented](), Counter[str]()
    for _, row in rows_of(table, _check):
        image, caption, made_image, made_caption = (row.get(name, "") for name in COLUMNS)
        if not caption:
            left_out["blank-caption"] += 1
        elif not (made_image and made_caption):
            left_out["no-positive"] += 1
        elif image and all(inside(table.parent, name).is_file() for name in (image, made_image)):
            found.append(Augmented(image, caption, made_image, made_caption, table.parent))
        else:
            left_out["missing-picture"] += 1
    _refuse_nothing(found, left_out, table)
    return tuple(found), dict(left_out)


def readable(
    found: Sequence[Augmented], report: Callable[[int, int], None] | None = None
) -> tuple[tuple[Augmented, ...], dict[str, int], Mapping[Path, str]]:
    """Decode every picture once, so that no step of a training meets one that is broken: the pairs whose pictures can
    be read; how many were left out, as ``unreadable-image``; sha256 of each file. Raises InvalidInput if no pair is
    left."""
    hashes, broken = dict[Path, str](), dict[Path, str]()
    paths = list(dict.fromkeys(path for each in found for path in each.pictures))
    for done, path in enumerate(paths, 1):
        try:
            hashes[path] = read_image(path).bytes_sha256
        except BadImage as error:
            broken[path] = str(error)
        if report is not None:
            report(done, len(paths))
    kept = tuple(each for each in found if broken.keys().isdisjoint(each.pictures))
    left_out = {"unreadable-image": len(found) - len(kept)} if broken else {}
    _refuse_nothing(kept, left_out, next(iter(broken.values()), ""))
    return kept, left_out, hashes


def _refuse_nothing(found: Sequence[Augmented], left_out: Mapping[str, int], where: object) -> None:
    if not found:
        told = ", ".join(f"{count:,} {reason}" for reason, count in left_out.items()) or "no rows"
        raise InvalidInput(
            f"no pair is left to learn from ({told}; {where}); a row needs a picture and a caption by people, and a "
            "generated one of each"
        )


def _check(path: Path, columns: Sequence[str]) -> None:
    missing = [name for name in COLUMNS if name not in columns]
    if missing:
        raise BadCorpus(f"{path} has no column {missing[0]!r}; it needs {', '.join(COLUMNS)}")
