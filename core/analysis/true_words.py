"""Words that may be true: edits of which nobody knows that the picture does not decide them.

*A bed* and *an African bed* are said to mean the same of one photograph. Where the picture shows an African bed they do
not, and a score that moves is right to. Whether a word is true of a picture is in no annotation, so that such a family
heads no finding, unless people were asked and accepted both versions. A flip, a moved object and a JPEG change no word.
"""

from collections.abc import Collection, Sequence

from core.analysis.study_outcomes import BOTH, item_outcomes
from core.analysis.table import ScoreTable
from core.human.kinds import ACCEPTABILITY
from core.human.studies import Study
from core.human.votes import vote_table
from core.probes.base import Axis
from core.statistics.shares import wilson

MAY_BE_TRUE = "a word that may be true"
WHY = "the picture may support the word, and nobody was asked"


def may_be_true(table: ScoreTable, accepted: Collection[str] = ()) -> frozenset[str]:
    """Families whose edit puts a word before a noun that the picture may support.

    Args:
        table: of the scores.
        accepted: families both of whose versions people accept, of :func:`accepted_by_people`.
    """
    rows = table.probes
    words = rows.loc[(rows["axis"] == Axis.SOCIETAL.value) & ~rows["control"], "family"].dropna()
    return frozenset(map(str, words.unique())) - frozenset(accepted)


def accepted_by_people(studies: Sequence[Study], runs: Collection[str]) -> frozenset[str]:
    """Families of which people were asked and most judged pairs are acceptable in both versions.

    Args:
        studies: that are here; those of other runs, and those that ask for something else, are passed over.
        runs: ids of the runs that are read.

    Returns:
        Families the Wilson interval of whose share of accepted pairs lies above one half.
    """
    kept, judged = dict[str, int](), dict[str, int]()
    for study in studies:
        if study.definition.run not in runs or study.definition.asked is not ACCEPTABILITY:
            continue
        for row in item_outcomes(vote_table(study)).itertuples():
            judged[str(row.family)] = judged.get(str(row.family), 0) + 1
            kept[str(row.family)] = kept.get(str(row.family), 0) + (1 if str(row.outcome) == BOTH else 0)
    return frozenset(name for name, n in judged.items() if wilson(kept[name] / n, n)[0] > 0.5)
