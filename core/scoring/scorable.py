"""What an evaluator cannot score, told before its weights are loaded: no references, another language."""

from collections.abc import Iterable

from core.corpora.scripts import languages_by_script
from core.errors import InvalidInput
from core.evaluators.base import EvaluatorSpec


def unread_captions(spec: EvaluatorSpec, captions: Iterable[str]) -> dict[str, str]:
    """Captions in scripts of languages that an evaluator does not read, each with why; nothing else tells a language.

    Args:
        captions: of one file, which tells Chinese characters of Japanese from Chinese.
    """
    texts = list(dict.fromkeys(captions)) if spec.languages else []
    languages = languages_by_script(texts, "")
    return {
        text: spec.unread(language)
        for text, language in zip(texts, languages, strict=True)
        if language and not spec.reads(language)
    }


def check_scorable(spec: EvaluatorSpec, captions: Iterable[str], *, references: bool) -> None:
    """Refuse what no caption could be scored of; where some can, the others cost their own score.

    Args:
        references: whether any caption has references.

    Raises:
        InvalidInput: if the evaluator needs references, or reads none of the captions.
    """
    if spec.takes_references and not references:
        raise InvalidInput(
            f"{spec.name} compares with reference captions; give --references, or choose another evaluator"
        )
    said = {text for text in captions if text.strip()}
    unread = unread_captions(spec, said)
    if unread and len(unread) == len(said):
        why = next(iter(unread.values()))
        raise InvalidInput(f"none of the {len(said):,} captions can be scored: {why}; choose an evaluator that does")
