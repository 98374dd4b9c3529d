"""Roles of an item's rivals that tests and corpora share."""

NONPROTO_WRONG = "nonproto-wrong"
"""The non-prototype again, with the knob wrong: only the knob differs from the item's own picture."""

PROTO_RIGHT = "proto-right"
"""The prototype, with the knob right: only the kind differs, and the text fits both."""

PROTO_WRONG = "proto-wrong"
"""The prototype with the knob wrong: paper E's adversary."""

PROTOTYPE_ROLES = (NONPROTO_WRONG, PROTO_RIGHT, PROTO_WRONG)
"""The item's own picture shows the non-prototype with the knob right. Source: paper E, section 3, taken apart."""

WRONG_PICTURE = "wrong-picture"
"""The picture that an item's wrong caption is right of; it may have another size. Source: Winoground."""

OTHER_VIDEO = "other-video"
"""Another video of the folder, of which no caption of the item is known to be true."""
