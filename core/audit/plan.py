"""What an audit will do, before it does it: which variants, how many calls, in which shards."""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from core.audit.fingerprints import corpus_fingerprint, describe_probe
from core.audit.request import SUBJECT_CHOICES, AuditRequest
from core.corpora.curation import stratified
from core.corpora.schema import Corpus, Item
from core.corpora.schema import languages as languages_in
from core.errors import InvalidInput, NotAvailable
from core.evaluators.base import BATCH_SIZE, BLIND, Evaluator, EvaluatorSpec
from core.evaluators.functions import the_metric
from core.evaluators.references import NO_REFERENCE
from core.evaluators.registry import find
from core.evaluators.video.formula import Idf, read_idf
from core.evaluators.video.video_evaluator import VideoEvaluator, asks, for_items, scores_videos
from core.probes.base import ENGLISH, FRAMES, HUMAN, SUBJECTS, TEMPLATE, Axis, Edits, Probe
from core.probes.families.ground import ALONG_GROUND
from core.probes.pixels import text_reader
from core.probes.registry import DEFAULT, catalogue, select, with_baselines, with_taggers
from core.probes.tables import BACKDROPS, lexicons_fingerprint, words_fingerprint
from core.probes.words.mentions import VIDEO
from core.probes.words.natural_captions import labelled, origins
from core.probes.words.taggers import RULES, tagger
from core.seeds import RUN_SEED
from core.store.schema import SCHEMA_VERSION

SHARD_ITEMS = 24  # items a shard: what a kill can cost at most
_LABEL = "label"


@dataclass(frozen=True, slots=True)
class Cost:
    """What a run needs, counted before any image is read; rejections make it less."""

    items: int
    images: int  # unedited and edited images, at most
    captions: int  # unique captions, at most
    pairs: int  # (image, caption) pairs for each evaluator, at most
    rows: int  # rows of the scores table, at most


@dataclass(frozen=True, slots=True)
class Plan:
    """Corpus × probes × evaluators, ready to run; made by :func:`make_plan`."""

    corpus: Corpus
    root: Path | None  # folder that the items' image paths are told relative to
    probes: tuple[Probe, ...]
    evaluators: tuple[str, ...]  # references, as given; none: the pairs alone, for others to score
    subjects: tuple[str, ...]
    seed: int = RUN_SEED
    limit: int | None = None
    # how many items were drawn of the corpus, evenly over category and coverage; None: all, or the first
    sample: int | None = None
    shard_items: int = SHARD_ITEMS
    # most images in one call; None: as many as the evaluators ask for once they are loaded
    batch_size: int | None = None
    languages: tuple[str, ...] = (ENGLISH,)  # of human captions, ISO 639-1; the template is English
    captions_each: int = 1  # most human captions of an item in each language, the first ones
    # sentences on probes of a wide choice that were left out, since what they need is not here
    without: tuple[str, ...] = ()
    # document frequencies that weigh the tokens of video evaluators; None: every token counts the same
    idf: Idf | None = None

    @property
    def group_images(self) -> int:
        """Most images that are held together for the evaluators."""
        return BATCH_SIZE if self.batch_size is None else self.batch_size

    @property
    def image_probes(self) -> tuple[Probe, ...]:
        """Probes that edit the image."""
        return tuple(probe for probe in self.probes if probe.edits is Edits.IMAGE)

    @property
    def caption_probes(self) -> tuple[Probe, ...]:
        """Probes that edit the caption."""
        return tuple(probe for probe in self.probes if probe.edits is Edits.CAPTION)

    def subjects_of(self, probe: Probe) -> tuple[str, ...]:
        """Subjects that the rows of a probe are filed under. An edited image stands beside those subjects that were
        asked for and that it holds; an edit of the caption belongs to those of them that it edits. Where none of them
        was asked for, it is the first one."""
        allowed = probe.held if probe.edits is Edits.IMAGE else probe.subjects
        return tuple(name for name in self.subjects if name in allowed) or allowed[:1]

    @property
    def identity_subjects(self) -> tuple[str, ...]:
        """Subjects of the unedited image: those asked for, and those that an edited caption is compared with."""
        needed = {name for probe in self.probes for name in self.subjects_of(probe)}
        return tuple(name for name in SUBJECTS if name in self.subjects or name in needed)

    @property
    def videos(self) -> bool:
        """Whether the items are videos."""
        return any(item.frames for item in self.corpus.items)

    @property
    def kinds(self) -> tuple[type[Evaluator], ...]:
        """Classes of the evaluators, as they score items of the corpus, in their order.
        Raises InvalidInput if one cannot score such items."""
        return self.kinds_for(videos=self.videos)

    def kinds_for(self, *, videos: bool) -> tuple[type[Evaluator], ...]:
        """The same for items that are pictures or videos, for whoever holds the plan without its items."""
        name = self.corpus.name
        return tuple(for_items(find(reference), videos=videos, corpus=name) for reference in self.evaluators)

    @property
    def specs(self) -> tuple[EvaluatorSpec, ...]:
        """What the evaluators say of themselves, in their order."""
        return tuple(kind.spec for kind in self.kinds)

    @property
    def spoken(self) -> tuple[str, ...]:
        """Languages of the captions that are scored."""
        human = self.languages if HUMAN in self.identity_subjects else ()
        return tuple(dict.fromkeys((*((ENGLISH,) if TEMPLATE in self.identity_subjects else ()), *human)))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences on the evaluators: one does not say whether it reads what it is given, a baseline is missing."""
        others = [language for language in self.spoken if language != ENGLISH]
        said = [
            f"{spec.name} does not say which languages it reads; its scores of captions in {', '.join(others)} may "
            "mean nothing"
            for spec in self.specs
            if others and not spec.languages
        ]
        given = any(probe.needs == "wrong" for probe in self.probes)
        if given and self.evaluators and not any(spec.family == BLIND for spec in self.specs):
            said.append(
                "no reader that never sees the picture is among the evaluators; add blind-length,blind-typicality to "
                "see what the captions alone give away"
            )
        if any(item.read_text for item in self.corpus.items) and not self.reading:
            said.append(
                f"text=read says of edits that write a word what the photograph says, and none of the family "
                f"{text_reader.WRITTEN_IN} is chosen; nothing is read"
            )
        return (*said, *self.without)

    @property
    def taggers(self) -> dict[str, list[dict[str, str]]]:
        """What read natural captions and labels beside the rules: versions and digests; empty without either."""
        readers = (*(probe.tagger for probe in self.probes), *(item.label_by for item in self.corpus.items))
        names = dict.fromkeys(name for name in readers if name and name != RULES)
        return {"taggers": [dict(tagger(name).describe()) for name in names]} if names else {}

    @property
    def reading(self) -> bool:
        """Whether photographs are read for text that they hold: the corpus was asked to, and an edit writes a word."""
        return any(probe.family == text_reader.WRITTEN_IN for probe in self.probes) and any(
            item.read_text for item in self.corpus.items
        )

    @property
    def readers(self) -> dict[str, dict[str, str]]:
        """What read text in pictures: versions, digests and thresholds; empty where none was read."""
        return {"reader": text_reader.describe()} if self.reading else {}

    @property
    def labels(self) -> dict[str, dict[str, int]]:
        """How many items have a label of the source, of each tagger that read captions, or none. Empty where no label
        comes from a caption, as in every run of before."""
        found = origins(self.corpus.items)
        return {"labels": found} if any(item.label_by for item in self.corpus.items) else {}

    @property
    def shards(self) -> tuple[tuple[Item, ...], ...]:
        """The items, in order, in the chunks that are written together."""
        items = self.corpus.items
        return tuple(items[start : start + self.shard_items] for start in range(0, len(items), self.shard_items))

    def cost(self) -> Cost:
        """Count the work."""
        items = self.corpus.items
        read = [
            sum(self._pairs(language, kind) for language in self.spoken if kind.spec.reads(language))
            for kind in self.kinds
        ]
        read = read or [sum(self._pairs(language, None) for language in self.spoken)]
        return Cost(len(items), len(items) * (1 + len(self.image_probes)), self._captions(), max(read), sum(read))

    def _pairs(self, language: str, kind: type[Evaluator] | None) -> int:
        """Pairs of one language that an evaluator scores: subject captions, times the rows that stand beside each."""
        made = [self.subjects_of(probe) for probe in self.probes if kind is None or asks(kind, probe)]
        return sum(
            (1 + sum(name in names for names in made)) * self._count(name, language) for name in self.identity_subjects
        )

    def _count(self, name: str, language: str) -> int:
        if name == TEMPLATE:
            return sum(bool(item.label) for item in self.corpus.items) if language == ENGLISH else 0
        return sum(len(self._human(item, language)) for item in self.corpus.items)

    def _human(self, item: Item, language: str) -> tuple[str, ...]:
        return item.captions.get(language, ())[: self.captions_each] if language in self.languages else ()

    def _captions(self) -> int:
        """Unique captions, at most: labels' templates with their edits, human captions with theirs."""
        edits = [self.subjects_of(probe) for probe in self.caption_probes]
        labels = {item.label for item in self.corpus.items if item.label}
        own = {text for item in self.corpus.items for spoken in self.languages for text in self._human(item, spoken)}
        return sum(
            len(texts) * (1 + sum(name in names for names in edits))
            for name, texts in ((TEMPLATE, labels), (HUMAN, own))
            if name in self.identity_subjects
        )

    @property
    def words(self) -> dict[str, str]:
        """Digest of the tables for directional and surface probes, human captions, moves along the ground and videos.
        Human captions: beside those that name a place no edit stands that changes it. Empty without any of these."""
        axes = {probe.axis for probe in self.caption_probes}
        surface = any(probe.axis is Axis.SURFACE for probe in self.probes)
        said = surface or HUMAN in self.subjects or axes & {Axis.LEXICAL, Axis.SEMANTIC, Axis.OBJECT}
        folders = ["words"] if said else []
        folders += ["surface"] if surface else []
        folders += [BACKDROPS] if any(probe.family == ALONG_GROUND for probe in self.probes) else []
        folders += [VIDEO] if self.videos else []
        return {"words": words_fingerprint(folders)} if folders else {}

    def usual_run_id(self) -> str:
        """Corpus, time and digest: what a run is called that nobody named."""
        return f"{self.corpus.name}-{datetime.now(UTC):%Y%m%d-%H%M%S}-{self.fingerprint()[:6]}"

    def fingerprint(self) -> str:
        """Short digest of everything that decides the scores, evaluators' fingerprints aside."""
        parts = {
            "schema": SCHEMA_VERSION,
            "corpus": corpus_fingerprint(self.corpus),
            "probes": [describe_probe(probe) for probe in self.probes],
            "lexicons": lexicons_fingerprint(),
            **self.words,
            **self.taggers,
            **self.readers,
            **{name: getattr(self, name) for name in ("subjects", "languages", "captions_each", "seed", "shard_items")},
            "batch_size": self.group_images,
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def make_plan(
    corpus: Corpus, request: AuditRequest, *, shard_items: int = SHARD_ITEMS, batch_size: int | None = None
) -> Plan:
    """Plan an audit. The probes that others are compared with are added by themselves.
    ``request``: what is asked; where it names no subject, the usual one of the corpus is taken. Its root is that of the
    images where all lie below it; else it is the folder that they share.
    ``batch_size``: most images in one call; None: as many as the evaluators ask for once they are loaded.
    Raises UnknownName for an unknown evaluator or probe.
    Raises NotAvailable for probes, chosen by name or family, whose tagger is not here; for pictures that are to be read
    where no reader is.
    Raises InvalidInput for an empty corpus, a number out of its range, a language that no caption of the corpus has,
    languages of which no evaluator reads any, the template alone where no item has a label, an evaluator that cannot
    score such items, or document frequencies that none takes."""
    for name, value in (("shard_items", shard_items), ("batch_size", batch_size)):
        if value is not None and value < 1:
            raise InvalidInput(f"{name} must be at least 1, got {value}")
    if request.limit is not None and request.sample is not None:
        raise InvalidInput("limit and sample exclude each other; give one")
    evaluators = tuple(map(the_metric, request.evaluators or ()))
    names = [find(reference).spec.name for reference in evaluators]
    if len(set(names)) < len(names):
        raise InvalidInput(f"each evaluator can be chosen once, got {', '.join(names)}")
    _check_items(corpus)
    subjects = SUBJECT_CHOICES[request.subject] if request.subject else usual_subjects(corpus)
    corpus = labelled(corpus)
    found, without = with_taggers(applicable(corpus, request.probes), request.probes)
    seed = RUN_SEED if request.seed is None else request.seed
    items = replace(corpus, items=corpus.items[: request.limit])
    plan = Plan(
        corpus=stratified(corpus, request.sample, seed=seed) if request.sample else items,
        root=_root_of(corpus, None if request.root is None else Path(request.root)),
        probes=with_baselines(found),
        evaluators=evaluators,
        subjects=subjects,
        seed=seed,
        limit=request.limit,
        sample=request.sample,
        shard_items=shard_items,
        batch_size=batch_size,
        languages=tuple(dict.fromkeys(request.languages)),
        captions_each=request.captions_each,
        without=without,
        idf=None if request.idf is None else read_idf(Path(request.idf)),
    )
    _check_languages(plan, languages_in(corpus.items))
    _check_fits(plan)
    return plan


def _check_items(corpus: Corpus) -> None:
    ids = [item.id for item in corpus.items]
    if not ids:
        told = "nothing was found in it, and nothing was left out"
        if corpus.rejected:  # how many, by reason, with an example of the commonest
            reasons = Counter(each.code for each in corpus.rejected).most_common(5)
            first = next(each for each in corpus.rejected if each.code == reasons[0][0])
            named = ", ".join(f"{count:,} {code}" for code, count in reasons)
            example = f"e.g. {first.subject[:80]}: {first.detail[:200]}"
            told = f"{len(corpus.rejected):,} were left out ({named}), {example}"
        raise InvalidInput(f"corpus {corpus.name!r} has no items to audit; {told}")
    if len({bool(item.frames) for item in corpus.items}) > 1:
        raise InvalidInput(f"corpus {corpus.name!r} has pictures and videos; audit them apart")
    seen: set[str] = set()
    for each in ids:
        if each in seen:
            raise InvalidInput(f"corpus {corpus.name!r} names item {each!r} twice; ids must be unique")
        seen.add(each)


def _check_fits(plan: Plan) -> None:
    asked = plan.subjects == (TEMPLATE,) and TEMPLATE in plan.identity_subjects
    if asked and not any(item.label for item in plan.corpus.items):
        raise InvalidInput(
            f"no item of corpus {plan.corpus.name!r} has a label to make the template of; choose the subject human"
        )
    check_references(plan.specs, plan.corpus.items, plan.identity_subjects, plan.languages)
    if plan.idf is not None and not any(issubclass(find(each), VideoEvaluator) for each in plan.evaluators):
        raise InvalidInput("document frequencies weigh tokens of video evaluators, and none is chosen; leave --idf out")
    if plan.reading and (reason := text_reader.lacking()):
        raise NotAvailable(f"{reason}; or leave the corpus' option text=read out")


def _check_languages(plan: Plan, known: Sequence[str]) -> None:
    if plan.languages != (ENGLISH,) and HUMAN not in plan.identity_subjects:
        raise InvalidInput(
            f"languages choose among captions by people, and the template is English, got {', '.join(plan.languages)}; "
            "choose the subject human or both"
        )
    strange = [language for language in plan.languages if language not in (*known, ENGLISH)]
    if strange:
        raise InvalidInput(
            f"no caption of corpus {plan.corpus.name!r} is in language {strange[0]!r}; "
            f"it has {', '.join(known) or 'none'}"
        )
    specs = plan.specs
    if specs and not any(spec.reads(language) for spec in specs for language in plan.spoken):
        told = "; ".join(spec.unread(plan.spoken[0]) for spec in specs)
        raise InvalidInput(f"no chosen evaluator reads any of {', '.join(plan.spoken)}: {told}; choose another")


def _root_of(corpus: Corpus, root: Path | None) -> Path | None:
    """The folder named, where every image lies below it; else the deepest that they share: pictures may lie elsewhere,
    or in memory alone."""
    paths = [item.image_path.absolute() for item in corpus.items if item.image_path is not None]
    if root is not None and all(path.is_relative_to(root.absolute()) for path in paths):
        return root
    try:
        return Path(os.path.commonpath([path.parent for path in paths])) if paths else None
    except ValueError:  # two drives
        return None


def usual_subjects(corpus: Corpus) -> tuple[str, ...]:
    """Subjects of a run that names none: the template, and where no source gives a label, the human caption."""
    given = any(item.label and not item.label_by for item in corpus.items)
    return (TEMPLATE,) if given or not any(item.captions for item in corpus.items) else (HUMAN,)


def usual_evaluators(corpus: Corpus, names: Sequence[str]) -> tuple[str, ...]:
    """Those of some evaluators that can score items of a corpus."""
    videos = any(item.frames for item in corpus.items)
    return tuple(name for name in names if not videos or scores_videos(find(name)))


def applicable(corpus: Corpus, patterns: Sequence[str]) -> tuple[Probe, ...]:
    """Probes that the patterns select; one that no item holds the ground for stays only where it is named itself.
    Of videos the default holds the edits of frames besides."""
    found = select(patterns)
    needed = {FRAMES, _LABEL, *(probe.needs for probe in found if probe.needs)}
    held = {need for need in needed if any(getattr(item, need) for item in corpus.items)}
    if FRAMES in held and DEFAULT in patterns:
        found = tuple(probe for probe in catalogue() if probe in found or probe.needs == FRAMES)
    lacking = {probe.name: _lacking(probe, held) for probe in found if probe.name not in patterns}
    kept = tuple(probe for probe in found if not lacking.get(probe.name))
    if not kept:
        told = " or ".join(sorted(set(lacking.values())))
        raise InvalidInput(f"no item of corpus {corpus.name!r} has {told}, which {', '.join(patterns)} need")
    return kept


def check_references(
    specs: Sequence[EvaluatorSpec], items: Sequence[Item], subjects: Collection[str], languages: Sequence[str]
) -> None:
    """Refuse an evaluator that compares with references where no item has a caption beside the one that is scored.
    ``subjects``: that are scored; ``languages``: of the human captions among them.
    Raises InvalidInput naming the first such evaluator."""
    needing = next((spec.name for spec in specs if spec.takes_references), None)
    if needing is None:
        return
    for item in items:
        if TEMPLATE in subjects and item.label and item.captions.get(ENGLISH):
            return
        if HUMAN in subjects and any(len(set(item.captions.get(each, ()))) > 1 for each in languages):
            return
    raise InvalidInput(
        f"{NO_REFERENCE.format(name=needing).replace('this item', 'every item')}, or choose another evaluator"
    )


def _lacking(probe: Probe, held: Collection[str]) -> str:
    """What a probe needs that no item has, of the fields that some items have; empty: nothing."""
    if probe.edits is Edits.IMAGE and FRAMES in held and probe.needs != FRAMES and not probe.framewise:
        return "a single picture"
    if probe.edits is Edits.CAPTION and probe.subjects == (TEMPLATE,) and _LABEL not in held:
        return _LABEL
    return "" if probe.needs in ("", *held) else probe.needs
