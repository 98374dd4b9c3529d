"""Words that may be true: edits of which nobody knows that the picture does not decide them.

*A bed* and *an African bed* are said to mean the same of one photograph. Where the picture shows an African bed they do
not, and a score that moves is right to. Whether a word is true of a picture is in no annotation, so that such a family
heads no finding, unless people were asked and accepted both versions. A flip, a moved object and a JPEG change no word.
"""

from collections.abc import Collection

from core.analysis.table import ScoreTable
from core.probes.base import Axis

MAY_BE_TRUE = "a word that may be true"
WHY = "the picture may support the word, and nobody was asked"


def may_be_true(table: ScoreTable, accepted: Collection[str] = ()) -> frozenset[str]:
    """Families whose edit puts a word before a noun that the picture may support.

    Args:
        table: of the scores.
        accepted: families both of whose versions people accept, of
        :func:`core.features.human.study_outcomes.accepted_by_people`.
    """
    rows = table.probes
    words = rows.loc[(rows["axis"] == Axis.SOCIETAL.value) & ~rows["control"], "family"].dropna()
    return frozenset(map(str, words.unique())) - frozenset(accepted)
