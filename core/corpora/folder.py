"""A folder of images with whatever lies beside them: captions, labels, boxes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.corpora.boxes import SLACK, boxes_in_shares, clipped_sentence, read_box, turned_sentence, upright_around
from core.corpora.corpus_files import Findings, LeftOut, up_to, whole_number
from core.corpora.curation import CURATION_OPTIONS, Curation, Instance, largest, single_object
from core.corpora.folder_tables import (
    BOX_FILES,
    Note,
    OwnColumns,
    assign,
    caption_files,
    choose_file,
    find_images,
    language_code,
    packed_images,
    read_box_notes,
    read_caption_beside,
    read_caption_notes,
    unread_files,
)
from core.corpora.image_header import ImageHeader
from core.corpora.image_places import auditable, remark_exif
from core.corpora.labels import (
    OPTION,
    RULES,
    Taxonomy,
    caption_languages,
    known_category,
    load_taxonomy,
    reader,
    stated_language,
)
from core.corpora.registry import corpus_loader
from core.corpora.schema import Corpus, Item, Rejection, SceneObject
from core.corpora.table_cells import too_long
from core.errors import BadCorpus, InvalidInput

SLICES = ("all", "single-object")


@corpus_loader(
    name="folder",
    summary="A folder of images, with candidates.json, predictions.jsonl or captions.csv, and boxes if you have them.",
    options={
        "captions": "the file of captions, where there are several or it has another name",
        "language": "of captions that state none; by default that of their script, and English of Latin letters",
        "boxes": "the file of boxes, where it is not boxes.csv or boxes.json",
        "taxonomy": "map in assets/taxonomy that gives a label its category (coco)",
        "slice": "all (default): every image; single-object: only images about one object, which needs boxes",
        "limit": "stop after so many items",
        "name": "what runs call this corpus (folder)",
        **OPTION,
        **CURATION_OPTIONS,
    },
)
def load_folder(
    root: Path,
    *,
    captions: str | None = None,
    language: str | None = None,
    boxes: str | None = None,
    taxonomy: str = "coco",
    slice: str = SLICES[0],
    limit: int | str | None = None,
    name: str = "folder",
    labels: str = RULES,
    **curation: Any,
) -> Corpus:
    """Read a folder of images; the options say what is read beside them. An item's id is the path of its image in the
    folder. Captions and boxes name an image by that path, by its file name or by its stem; a name that fits several
    images is rejected. Subfolders are read too, links out of the folder are not followed.
    ``captions``, ``boxes``: a file in the folder, or anywhere by its absolute path.
    Raises BadCorpus if there is no image, several files of captions, or a malformed one; InvalidInput if an option is
    wrong."""
    if slice not in SLICES:
        raise InvalidInput(f"slice must be one of {', '.join(SLICES)}, got {slice!r}")
    if curation and slice != SLICES[1]:
        raise InvalidInput(f"{next(iter(curation))} belongs to slice=single-object; leave it out with slice={slice}")
    code = stated_language(language)
    most = None if limit is None else whole_number(limit, name="limit")
    if captions is not None:
        choose_file(root, captions, (), option="captions")  # before the pictures are looked for
    box_file = choose_file(root, boxes, BOX_FILES, option="boxes")
    found = Findings()
    packed = packed_images(root, most=most)
    paths = find_images(root, found, {key: path for each in packed.values() for key, path in each.items()})
    read_files = caption_files(root, captions, paths)
    if captions is None:
        read_files += [(path, f"{path.relative_to(root).as_posix()}/") for path in packed]
    texts = {} if read_files else {key: path.with_suffix(".txt") for key, path in paths.items()}
    beside = {key: text for key, text in texts.items() if text.is_file()}
    told = [*read_files, *([(box_file, "")] if box_file else [])]
    for each in unread_files(root, [*packed, *(path for path, _ in told)]):
        detail = f"{each} lies in the folder and is not read; if it holds captions: --option captions={each}"
        found.remark(Rejection(each, "file-unread", detail))
    own = OwnColumns()
    notes = assign(_notes(read_files, beside, box_file, own), paths, found)
    lost = [each.subject for each in found.rejected if each.code == "entry-no-image"]
    if lost and not notes:
        raise BadCorpus(
            f"{told[0][0]} names {len(lost):,} pictures, such as {lost[0]!r}, and none of them is in {root}; give the "
            "folder of its pictures, or another file with captions=…"
        )
    facts = own.of_pictures({key: [note.own for note in notes.get(key, ())] for key in paths}, found)
    rules = Curation.from_options(curation) if slice == SLICES[1] else None
    shares = boxes_in_shares([(note.where, note.box) for each in notes.values() for note in each if note.box], found)
    untold = [note.caption for each in notes.values() for note in each if note.caption and not note.language]
    languages = caption_languages(untold, code, root.name, found)
    read = _Reader(name, languages, load_taxonomy(taxonomy), rules, found, shares)
    made = (read.item(key, path, notes.get(key, []), facts.get(key, {})) for key, path in paths.items())
    items, _ = up_to(most, made)
    found.remark(*read.taxonomy.unmapped(item.label for item in items if item.label and item.category is None))
    description = _description(
        root, [path for path, _ in read_files] or list(beside.values())[:1], box_file, rules, most
    )
    return Corpus(name, tuple(items), found.rejected, description, remarks=found.remarks, read_labels=reader(labels))


@dataclass(frozen=True, slots=True)
class _Reader:
    name: str
    languages: Mapping[str, str]
    taxonomy: Taxonomy
    curation: Curation | None
    findings: Findings
    shares: bool = False

    def item(self, key: str, path: Path, notes: Sequence[Note], facts: Mapping[str, str]) -> Item | None:
        try:
            header = auditable(path)
            instances = self._instances(notes, header)
            if instances:
                remark_exif(self.findings, key, path, header)
            size, boxed = {"width": header.width, "height": header.height}, [each for each, _ in instances]
            rules = self.curation
            chosen = largest(boxed) if rules is None else single_object(boxed, **size, curation=rules)
        except LeftOut as reason:
            self.findings.leave_out(reason.rejection(key))
            return None
        note = next((note for each, note in instances if each is chosen), None)
        note = note or next((note for note in notes if note.label or note.category), None)
        captions = self._captions(notes)
        category = None
        if note and note.category and known_category(note.category.lower()):
            category = note.category.lower()
        elif note:
            if note.category:
                told = f"{note.category!r} of {note.image} is no category; assets/taxonomy/README.md lists them"
                self._remark(note, "bad-category", told)
            category = self.taxonomy.category(note.label) if note.label else None
        # critical objects of the captions, in their order, in the languages in which a file lists some
        listed = {(each.caption or "").strip(): each.named for each in notes if each.named}
        named = {language: tuple(listed.get(text, ()) for text in texts) for language, texts in captions.items()}
        return Item(
            id=key,
            corpus=self.name,
            image_path=path,
            width=header.width,
            height=header.height,
            captions=captions,
            named={language: names for language, names in named.items() if any(names)},
            label=note.label if note else None,
            category=category,
            box=chosen.box if chosen else None,
            source=key,
            group=next((note.group for note in notes if note.group), None),
            facts=facts,
            others=tuple(SceneObject(each.label, each.box) for each, _ in instances if each is not chosen),
        )

    def _instances(self, notes: Sequence[Note], header: ImageHeader) -> list[tuple[Instance, Note]]:
        found: list[tuple[Instance, Note]] = []
        for note in notes:
            if note.box is None:
                continue
            what = f"the box of {note.label or 'the object'} in {note.image}"
            size = {"width": header.width, "height": header.height}
            try:
                stated, degrees = upright_around(note.box, note.turn)
                box, overhang = read_box(stated, what=what, **size, shares=self.shares)
            except LeftOut as reason:
                self.findings.remark(reason.rejection(note.where))
                continue
            if degrees:
                self._remark(note, "annotation-turned", f"{what} is {turned_sentence(degrees)}")
            if overhang > SLACK:
                self._remark(note, "annotation-box-clipped", clipped_sentence(what, overhang))
            instance = Instance(note.label or "object", box)
            if all(instance != each for each, _ in found):  # a CSV repeats the box in each caption's line
                found.append((instance, note))
        return found

    def _captions(self, notes: Sequence[Note]) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for note in notes:
            if note.caption is None:
                continue
            if not note.caption.strip():
                self._remark(note, "caption-empty", f"{note.image} has an empty caption")
                continue
            if told := too_long(f"a caption of {note.image}", note.caption):
                self._remark(note, "caption-too-long", told)
                continue
            language = language_code(note.language) if note.language else self.languages[note.caption]
            if language is None:
                self._remark(note, "caption-bad-language", f"{note.language!r} is no language code such as en or de")
            elif note.caption.strip() not in found.get(language, ()):
                found[language] = (*found.get(language, ()), note.caption.strip())
        return found

    def _remark(self, note: Note, code: str, detail: str) -> None:
        self.findings.remark(Rejection(note.where, code, detail))


def _notes(
    files: Sequence[tuple[Path, str]], beside: Mapping[str, Path], box_file: Path | None, own: OwnColumns
) -> Iterator[Note]:
    for path, below in files:
        yield from read_caption_notes(path, own, below=below)
    for image, path in beside.items():
        yield from read_caption_beside(image, path)
    if box_file:
        yield from read_box_notes(box_file, own)


def _description(
    root: Path, captions: Sequence[Path], box_file: Path | None, rules: Curation | None, most: int | None
) -> str:
    parts = [f"folder {root.name}"]
    told = [("captions", path) for path in captions[:3]] + [("boxes", box_file)] * bool(box_file)
    parts += [f"{what} from {path.name}" for what, path in told if path]
    parts += [rules.sentence()] if rules else []
    parts += [f"limited to {most} items"] if most else []
    return ", ".join(parts)
