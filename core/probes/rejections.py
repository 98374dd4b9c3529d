"""Why an item, one probe of it, or a single pair has no score: every code with its meaning, in one place."""

import re
from collections.abc import Mapping
from types import MappingProxyType

LOADERS: Mapping[str, str] = MappingProxyType(
    {
        "annotation-bad-box": "a box in the annotations is no box",
        "annotation-bad-entry": "an annotation lacks its image or its category",
        "annotation-bad-segmentation": "an object's outline cannot be read, so its box stands alone",
        "annotation-box-clipped": "a box reached over the edge of its image and was cut there",
        "annotation-box-outside": "a box lies outside its image",
        "annotation-empty-segmentation": "an object's outline is empty, so its box stands alone",
        "annotation-bad-mask": "an object's outline cannot be used, so its box stands alone",
        "annotation-duplicate": "an object has two boxes, one under a more general name, which is dropped",
        "annotation-no-category": "an annotation names a category that is not listed",
        "annotation-no-image": "an annotation names an image that is not listed",
        "annotation-part": "a box is of a part of another object, and is dropped",
        "annotation-twice": "an annotation stands twice and counts once",
        "annotation-unknown-mark": "an annotator left open whether an object is hidden, cut off, grouped or depicted",
        "bad-box": "the box of a comparison's picture is no four numbers",
        "bad-category": "the category is none of the taxonomy",
        "bad-video": "the video is of no kind that is read, or cannot be decoded within the caps",
        "annotation-exif": "the file turns the picture, so its boxes are turned with it or taken as it is seen",
        "annotation-in-shares": "every box lies between 0 and 1: all are read as shares of the image",
        "annotation-turned": "a box is turned: the upright box around it is used",
        "annotation-unlike-box": "an object's outline and its box disagree, so its box stands alone",
        "bad-entry": "an entry of the image list lacks its id, name or size",
        "bad-image": "the image file cannot be read as an image",
        "caption-bad-entry": "a caption names no image",
        "caption-bad-language": "a caption's language is no code such as en or de",
        "caption-by-name": "captions and objects number the pictures otherwise: joined by the picture's name",
        "caption-empty": "a caption is empty",
        "caption-too-long": "a caption is longer than any that is read",
        "caption-refused": "the file says that a caption is rejected or ready-made",
        "caption-language": "captions without a stated language hardly read as the English they are taken for",
        "caption-no-image": "a caption names an image that is not listed",
        "category-twice": "two categories have one id",
        "changed-image": "the image file is not the one that was recorded",
        "column-kept": "a column of the owner's is kept with the items, to filter by",
        "column-passed-over": "a column or key is neither read nor a slice",
        "crowd": "the largest box is a crowd and not one object",
        "depiction": "the largest object is a depiction, such as a drawing or a toy",
        "duplicate-id": "two images have one id",
        "entry-ambiguous-image": "an entry names an image of which there are several",
        "equal-sides": "the right and the wrong caption of a line are one text",
        "entry-no-image": "an entry names an image that is not in the folder",
        "file-unread": "a file that may hold captions lies in the folder and is not read",
        "hdr": "the video holds high dynamic range, and its raw codes are scored as if it did not",
        "inside-view": "the largest object is seen from inside",
        "linked-folder": "a folder is a link to another place and is not followed",
        "missing-cell": "a line lacks its id, its text or a picture",
        "missing-image": "the item's image file is not there",
        "missing-video": "captions name a video that is not in the folder",
        "no-object": "no object is annotated",
        "not-dominant": "the largest object is not much larger than the next",
        "not-multi-object": "the image does not show two to four prominent objects",
        "no-template": "a question of VQA is of no kind that becomes a pair of captions",
        "answer-no-template": "the answer to a question of VQA makes no caption, or every other one was given, too",
        "not-validated": "too few of the publisher's annotators took the caption and refused its foil",
        "occluded": "the largest object is partly hidden by another",
        "overlap": "the largest object overlaps another one",
        "picture-twice": "two ids name one picture: one source",
        "reflected": "the largest object is a reflection",
        "size-mismatch": "the image has another size than its annotations are for",
        "small-object": "the largest object is too small",
        "turned-image": "the picture does not stand upright, by its publisher",
        "truncated": "the largest object may be cut off by the edge of the image",
        "unmapped-label": "the label has no category in the taxonomy",
        "unsafe-path": "the image's path leads out of its folder",
    }
)
"""Codes of what a corpus's loader leaves out or corrects."""

PAIRS: Mapping[str, str] = MappingProxyType(
    {
        # of whole items that an audit leaves out
        "unreadable-image": "the item's image file cannot be decoded",
        "no-caption": "there is no subject caption: the item has none that was asked for",
        # of captions that cannot be made or scored
        "no-label": "the item does not say what its dominant object is",
        "no-human-caption": "the item has no caption by a person in the language",
        "bad-caption": "the caption is no valid Unicode, so no table can hold it",
        "language-not-read": "the evaluator does not read the language of the caption",
        "no-category": "the item has no category, so nobody can say whether the modifier applies",
        "animacy": "the modifier is not said of this kind of object",
        "part-of-speech": "modifier and noun make no phrase of English",
        "implausible": "the phrase is well formed, and no one would say it",
        "lexicalised": "the phrase names another kind of thing, so the meaning changes",
        "false-origin": "the kind is of another part of the world, so the phrase is false of it",
        "colloquial": "the phrase is colloquial, so it stands in a family outside the default grid",
        "lexical-gender": "the noun states the gender already",
        "literal-sense": "a neutral control is not neutral before this noun",
        "already-modified": "the label holds a word of the family already",
        "no-modifier": "no modifier of the family is left before this noun, so a control has nothing to stand beside",
        "not-named": "the caption does not say the object's name as a separate word",
        "named-twice": "the caption names the object more than once, so nobody can say which one is meant",
        "compound": "the object's name is part of another noun in the caption, or may be",
        "family-word": "the caption says a word of the family already",
        "no-natural-caption": "no caption by a person has a word of the family before a noun",
        "no-tagger": "the tagger that reads the captions is not on this machine",
        "no-reader": "what reads text in pictures is not on this machine",
        "other-modifier": "the caption by a person says another word of the family",
        "contradiction": "the swapped word may contradict another word of the caption",
        "few-nouns": "fewer nouns that the edit may take are found in the caption than it needs",
        "unchanged": "the edit leaves the caption as it was, so there is nothing to compare",
        "language-not-edited": "no rule edits captions in the language",
        "already-negated": "the caption holds a negative word",
        "no-negation": "no rule negates the caption as a whole",
        "no-absent-category": "no category is known to be absent from the image",
        "no-noun": "the table of nouns lacks the label in the language",
        "repeated-template": "the template is written once a language, beside the first caption",
        "no-mention": "the caption names no annotated category by its own name, or only inside another noun",
        "no-replacement": "no category is left that could be named instead",
        "no-colour-word": "the caption has no colour before a noun",
        "no-number-word": "the caption counts no annotated category rightly",
        "too-short": "not enough sentences are known to be true of the picture for a long caption",
        "no-entity": "the caption names no place, role or brand that is listed",
        "no-relation": "no two things stand clear of each other: they overlap so, or one stands on both sides",
        "no-wrong-side": "the corpus gives no wrong caption beside this one",
        "not-composed": "nobody knows by construction where the object is and how much of the picture it takes",
        "few-objects": "fewer categories are annotated than the caption would name",
        "no-phrase": "the caption is a whole sentence, which does not read on after the words that are added",
        "no-sentence": "the caption is no sentence, which alone reads on after the words that are added",
        "similar-size": "no two annotated categories differ enough in area",
        # of images that cannot be made
        "no-mask": "the item has neither a box nor a mask of its object",
        "empty-mask": "the mask of the object has no pixel",
        "grabcut-empty": "no object stands out inside the box",
        "box-outside": "the box of the object lies outside the image",
        "box-too-small": "the box of the object is too small to find the object in it",
        "box-too-large": "the box of the object leaves nothing of the image around it",
        "no-background": "the object fills the image, so nothing is left to fill its place from",
        "too-small": "the image is not larger than what it would be shrunk to",
        "not-writable": "the word holds letters that cannot be drawn into the image, or is too long for it",
        "no-patchmatch": "the library that fills a hole by example is not on this machine",
        "no-true-plate": "what is behind the object is not known, since the picture was not composed",
        "no-ground": "the object does not stand on a ground that the picture shows",
        "too-large": "the object leaves too little room to move in",
        "leaves-image": "the object does not fit into the image at that position",
        "collision": "the object would cover another one",
        "no-frames": "the item is a picture, and the edit is one of a video's frames",
        "few-frames": "fewer frames of the video are looked at than the edit needs",
        "not-of-videos": "the edit is one of a single picture, and the item is a video",
        "order-free": "the evaluator knows no order of frames, so its score cannot move: by construction, not measured",
        "no-rival": "the item has no other picture of that role",
        "bad-rival": "the item's other picture cannot be read, has another size, or is not the one recorded",
        "caption-names-place": "the caption that is held names a place in the picture that the edit changes",
        "other-subject": "the edited image says nothing about the caption that is held",
        # that any probe can have
        "no-baseline": "there is nothing to compare the variant with under this evaluator",
        "probe-failed": "the probe raised its own error",
    }
)
"""Codes of what an audit leaves out: items, captions, images."""

UNCODED = "uncoded"

SCORES: Mapping[str, str] = MappingProxyType(
    {
        "answer-cut": "the model's answer had not ended at the most tokens that are read of it",
        "answer-no-score": "the model's answer is no score on the scale that it was asked for",
        "answer-one-token": "the model wrote several digits as one token, so they cannot be smoothed",
        "caption-no-noun": "the caption holds no noun that the judge could look for in the picture",
        "caption-not-english": "the caption does not read as English, whose nouns alone the judge can find",
        "no-reference": "the evaluator compares with reference captions, and the item has no other caption",
        "no-regions": "the evaluator reads regions, and none are known of the picture",
        "no-word": "the caption holds no word that the evaluator could read",
        "not-in-file": "the file of scores that were made elsewhere does not name the pair",
        "no-majority": "no score was given by more than half of a panel's judges",
        "no-number": "the file of scores that were made elsewhere gives no number for the pair",
        "not-finite": "the evaluator gave no finite number and no reason of its own",
        UNCODED: "a reason without a code: the column error says it",
    }
)
"""Codes of scores that are null: they close the sentence in the column ``error``, in square brackets."""

CODES: Mapping[str, str] = MappingProxyType({**LOADERS, **PAIRS, **SCORES})
"""Every code that Invariscope's own loaders, probes, evaluators and audits give."""

_CODED = re.compile(r"\[([a-z-]+)\]$")


def coded(code: str, sentence: str) -> str:
    """Return why a score is null: the sentence, closed by its code, which must be one of SCORES."""
    assert code in SCORES, code
    return f"{sentence} [{code}]"


def code_of(error: str | None) -> str:
    """Code that closes the reason of a null score; UNCODED where none of SCORES does.

    >>> code_of("the answer had not ended after 8 tokens: 'I say' [answer-cut]")
    'answer-cut'
    """
    found = _CODED.search(error or "")
    return found[1] if found and found[1] in SCORES else UNCODED


def meaning(code: str) -> str:
    """Say what a code means; empty for one of a plug-in, whose details say it."""
    return CODES.get(code, "")
