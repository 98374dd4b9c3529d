"""Which language captions are in: the one that somebody says, else that of their script, else English."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from core.corpora.findings import Findings
from core.corpora.folder_tables import language_code
from core.corpora.schema import Rejection
from core.errors import InvalidInput

ENGLISH = "en"

_LANGUAGES = {
    "HIRAGANA": "ja", "KATAKANA": "ja", "HANGUL": "ko", "CJK": "zh", "CYRILLIC": "ru", "GREEK": "el", "ARABIC": "ar",
    "HEBREW": "he", "DEVANAGARI": "hi", "BENGALI": "bn", "TAMIL": "ta", "TELUGU": "te", "THAI": "th", "GEORGIAN": "ka",
    "ARMENIAN": "hy", "GUJARATI": "gu", "KHMER": "km", "LAO": "lo", "MYANMAR": "my", "ETHIOPIC": "am",
}  # fmt: skip
"""First word of a letter's Unicode name -> the language that most captions in its script are in."""

LEAST = 20
"""Captions below which nothing is said of their language."""

_FREQUENT = frozenset(("a", "an", "the", "of", "in", "on", "with", "and", "is", "are", "to", "at"))


def stated_language(language: str | None) -> str | None:
    """Check the language that an option states of captions; None where it states none.

    Raises:
        InvalidInput: if it is no code.
    """
    code = None if language is None else language_code(language)
    if language is not None and code is None:
        raise InvalidInput(f"language must be a code such as en or ja, got {language!r}")
    return code


def caption_languages(texts: Sequence[str], stated: str | None, file: str, found: Findings) -> dict[str, str]:
    """The language of each caption of a file that gives none: as stated, else by its script, else English.

    Args:
        file: what messages call it.
        found: takes a remark where captions are taken for English and hardly read so.
    """
    languages = [stated] * len(texts) if stated else languages_by_script(texts, ENGLISH)
    known = dict(zip(texts, languages, strict=True))
    if not stated and hardly_english([text for text in texts if known[text] == ENGLISH]):
        detail = f"the captions of {file} are taken for English and hardly read so; say theirs with language=…"
        found.remark(Rejection(file, "caption-language", detail))
    return known


def by_language(texts: Iterable[str], languages: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Captions of one item by their language, in their order."""
    made: dict[str, tuple[str, ...]] = {}
    for text in texts:
        made[languages[text]] = (*made.get(languages[text], ()), text)
    return made


def language_by_script(text: str) -> str | None:
    """The language of a text by its letters; None of a text with a Latin letter, or without any that is known.

    Example:
        >>> language_by_script("テーブルの上に猫がいる"), language_by_script("一只猫"), language_by_script("Ein Hund")
        ('ja', 'zh', None)
    """
    if text.isascii():
        return None
    scripts = {unicodedata.name(sign, "").split(" ")[0].split("-")[0] for sign in text if sign.isalpha()}
    if "LATIN" in scripts:
        return None
    return next((language for script, language in _LANGUAGES.items() if script in scripts), None)


def languages_by_script(texts: Iterable[str], otherwise: str) -> list[str]:
    """The languages of the captions of one file, ``otherwise`` of those that their script does not tell.

    Chinese characters alone are Japanese where a tenth as many captions of the file hold kana.
    """
    found = [language_by_script(text) for text in texts]
    kana = 10 * found.count("ja") > found.count("zh")
    return [("ja" if kana and each == "zh" else each) or otherwise for each in found]


def hardly_english(texts: Sequence[str]) -> bool:
    """Whether under half of some captions, twenty at least, hold one of English's most frequent words.

    Of human captions of COCO photographs 99 % do.
    """
    english = sum(bool(_FREQUENT & set(text.casefold().split())) for text in texts)
    return len(texts) >= LEAST and 2 * english < len(texts)
