"""The judge with paper E's rubric: whether a picture is what a text says, from 1 to 4."""

from core.evaluators.base import evaluator
from core.evaluators.metrics.judge import Judge
from core.evaluators.network.answer import Form

_FORM = Form(low=1, high=4, reasoned=False)


@evaluator(
    name="judge-protoscore",
    title="Judge over the network, paper E's rubric",
    summary="A vision-language model rates the pair from 1 to 4 by paper E's rubric for prototypes, at temperature 0.",
    family="judge",
    score_range=(float(_FORM.low), float(_FORM.high)),
    memory_mb=1,
    offline=False,
    source="Rubric in assets/rubrics/protoscore.md; paper E, Table 6",
    licence="that of the endpoint",
)
class ProtoscoreJudge(Judge):
    """:class:`core.evaluators.metrics.judge.Judge` with another rubric: endpoint, budget and answers are its."""

    rubric_file = "protoscore.md"
    form = _FORM
