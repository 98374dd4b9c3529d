"""Suites of videos: VATEX-EVAL's ratings and ActivityNet-FOIL's paragraphs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core.corpora.corpus_files import read_json
from core.corpora.suites.image_suites import never_itself, number
from core.corpora.suites.model import (
    ACCURACY,
    TAU_B_RATERS,
    Compared,
    Decision,
    Rated,
    Sentence,
    Suite,
    own_references,
    spaced,
    texts,
)
from core.errors import BadCorpus

VATEX, ACTIVITYNET = "VATEX-EVAL", "ActivityNet-FOIL"
VIDEOS = (VATEX, ACTIVITYNET)

PICKLES = (".pkl", ".pickle")
REFUSED = (
    "{path} is a pickle, which can run any program when it is opened, so that it is never opened here; convert the "
    "files of VATEX-EVAL yourself with the ten lines of docs/video.md and give the JSON that they write"
)

VATEX_KEYS = ("video_ids", "candidates", "references", "human_scores")

RIGHT, FOILED = "final_right_video_sentences.json", "final_foil_video_sentences.json"
TIMES, OTHERS = "anet_entities_test_1.json", "anet_entities_test_2.json"
BESIDE = (FOILED, TIMES, OTHERS)
"""Files that are read beside ActivityNet-FOIL's first one; the last names the references."""

LEAST_OVERLAP = 0.4
"""A sentence of the other paragraph is a reference where more than this share of its seconds lies in the part."""


def vatex(path: Path, held: Mapping[str, Any]) -> Suite:
    """VATEX-EVAL as the ten lines of docs/video.md write it: a row a caption, a list of ratings an annotator.
    Raises BadCorpus if a list is missing or of another length."""
    lists = {name: held.get(name) for name in VATEX_KEYS}
    wrong = next((name for name, each in lists.items() if not isinstance(each, list)), None)
    if wrong:
        raise BadCorpus(f"{path} has no list {wrong!r}; write it again as docs/video.md says")
    videos, captions, references, people = (list(lists[name] or ()) for name in VATEX_KEYS)
    lengths = {"candidates": len(captions), "references": len(references)}
    lengths |= {
        f"human_scores of annotator {place}": len(each) if isinstance(each, list) else -1
        for place, each in enumerate(people, 1)
    }
    short = next((name for name, length in lengths.items() if length != len(videos)), None)
    if short or not people:
        many = lengths[short] if short else 0
        told = f"{short or 'human_scores'} has {many} entries for {len(videos)} captions"
        raise BadCorpus(f"{path}: {told}; write it again as docs/video.md says")
    rated, left_out, own = list[Rated](), 0, 0
    for place, (video, caption) in enumerate(zip(videos, captions, strict=True)):
        given = texts(references[place])
        ratings = [number(each[place]) for each in people]
        usable = isinstance(video, str) and isinstance(caption, str) and bool(spaced(caption)) and None not in ratings
        if not usable:
            left_out += len(ratings)
            continue
        text = spaced(caption)
        own += text in given
        kept = own_references(given, text)
        rated += [
            Rated(video, text, float(rating), references=kept, rater=f"annotator {one}")
            for one, rating in enumerate(ratings, 1)
            if rating is not None
        ]
    first = "the first ones of the file are taken, as the publisher does; none is drawn"
    exact = "scores are not rounded; the publisher's code rounds them to four decimals before they are ranked, so that"
    decisions = (
        never_itself(own, "captions"),
        Decision("first", "fewer references", first, len(captions), "captions"),
        Decision("rounding", "rounding", f"{exact} some tie", len(captions), "captions"),
    )
    return Suite(VATEX, TAU_B_RATERS, tuple(rated), (), left_out, decisions, videos=True, first=True)


def activitynet(path: Path) -> Suite:
    """ActivityNet-FOIL as its publishers lay it out: four files of one folder, the last of them for references.
    A paragraph's score is the mean over its sentences, each against the part of the video that its time stamps name.
    Raises BadCorpus if a file is missing or has another layout."""
    right, foiled = (_results(path.with_name(name)) for name in (RIGHT, FOILED))
    times = _entities(path.with_name(TIMES))
    others = _entities(path.with_name(OTHERS)) if path.with_name(OTHERS).is_file() else {}
    compared, left_out = list[Compared](), 0
    for video, sentences in right.items():
        made = _sentences(sentences, foiled.get(video, ()), times.get(video), others.get(video))
        if not made:
            left_out += 1
            continue
        whole = [" ".join(getattr(each, side) for each in made) for side in ("preferred", "other")]
        compared.append(Compared(video, whole[0], whole[1], sentences=made))
    if not compared:
        raise BadCorpus(f"{path} and the files beside it have no paragraph in common; give the publisher's folder")
    count = sum(len(each.sentences) for each in compared)
    with_some = sum(bool(one.references) for each in compared for one in each.sentences)
    mean = "a paragraph's score is the mean over its sentences, each against the frames between its time stamps"
    most = (
        f"those sentences of whose seconds more than {LEAST_OVERLAP:.0%} lie in the part; all of them where none does"
    )
    decisions = (
        Decision("sentences", "paragraphs", mean, count, "sentences"),
        Decision("overlap", "references", f"of the other annotator's paragraph, {most}", with_some, "sentences"),
    )
    return Suite(ACTIVITYNET, ACCURACY, (), tuple(compared), left_out, decisions, videos=True)


def _results(path: Path) -> dict[str, list[str]]:
    """Sentences of each video's paragraph; an entry that is none is an empty paragraph."""
    held = read_json(path)
    results = held.get("results") if isinstance(held, dict) else None
    if not isinstance(results, dict):
        raise BadCorpus(f"{path} has no object 'results'; give the publisher's file")
    return {
        video: [spaced(str(each.get("sentence", ""))) for each in entries if isinstance(each, dict)]
        for video, entries in results.items()
        if isinstance(entries, list)
    }


def _entities(path: Path) -> Mapping[str, Any]:
    held = read_json(path)
    if not isinstance(held, dict):
        told = f"{path} must be an object {{video: {{duration, timestamps, sentences}}}}; give the publisher's"
        raise BadCorpus(told)
    return held


def _sentences(right: Sequence[str], foiled: Sequence[str], times: object, other: object) -> tuple[Sentence, ...]:
    """Sentences of a pair of paragraphs; nothing where they do not belong together."""
    stamps, duration = _stamps(times)
    if not right or len(right) != len(foiled) or len(stamps) < len(right) or not duration or not all([*right, *foiled]):
        return ()
    other_stamps, _ = _stamps(other)
    told = texts(other.get("sentences")) if isinstance(other, dict) else ()
    found = []
    for one, wrong, (start, end) in zip(right, foiled, stamps, strict=False):
        near = []
        for text, (begins, ends) in zip(told, other_stamps, strict=False):
            # enough whole seconds of the other part lie in this one, as the publisher counts them
            first, last = int(begins), int(ends)
            shared = min(int(end), last) - max(int(start), first) + 1
            if last >= first and shared / (last - first + 1) > LEAST_OVERLAP:
                near.append(text)
        part = (min(max(start / duration, 0.0), 1.0), min(max(end / duration, 0.0), 1.0))
        found.append(Sentence(one, wrong, part, own_references(near or told, one, wrong)))
    return tuple(found)


def _stamps(entry: object) -> tuple[list[tuple[float, float]], float]:
    """Time stamps and length of a video in seconds; nothing where they cannot be used."""
    known = entry if isinstance(entry, dict) else {}
    duration, given = number(known.get("duration")), known.get("timestamps")
    pairs = (
        [[number(value) for value in each] if isinstance(each, list) else [] for each in given or ()]
        if isinstance(given, list)
        else []
    )
    found = [(each[0], each[1]) for each in pairs if len(each) == 2 and each[0] is not None and each[1] is not None]
    return (found, duration) if duration and duration > 0 and len(found) == len(pairs) else ([], 0.0)
