"""English that a person checked, written down without any of the code under test."""

COCO = {
    "a": (
        "person bicycle car motorcycle bus train truck boat traffic_light fire_hydrant stop_sign parking_meter bench "
        "bird cat dog horse sheep cow bear zebra giraffe backpack handbag tie suitcase frisbee snowboard sports_ball "
        "kite baseball_bat baseball_glove skateboard surfboard tennis_racket bottle wine_glass cup fork knife spoon "
        "bowl banana sandwich carrot hot_dog pizza donut cake chair couch potted_plant bed dining_table toilet tv "
        "laptop mouse remote keyboard cell_phone microwave toaster sink refrigerator book clock vase teddy_bear "
        "hair_drier toothbrush"
    ),
    "an": "airplane elephant umbrella apple orange oven",
    "plural": "skis scissors",
    "mass": "broccoli",
}
"""COCO's eighty labels by what stands before them in the bare caption."""

MODIFIERS = {
    "a": (
        "European Russian cheap luxury budget male female boy girl happy sad local foreign citizen refugee tourist "
        "typical plain"
    ),
    "an": "American Asian Arab African Oceanian expensive angry immigrant ordinary",
}
"""Every modifier and control by its article."""

ARTICLES = {
    "an": (
        "hour honest heir hourglass honor umbrella uncle urn urchin African X-ray MRI SUV LED ATM RV NBA HDTV "
        "8 11 18 80 11111111111 11-seater 8-ball 800 18000 8000000 FBI M&M elephant igloo onion oboe apple egg ox "
        "élan Åland 'old' (open)"
    ),
    "a": (
        "European unicorn university uniform unique union ukulele user utensil urinal unicycle one-way once-famous "
        "eulogy ewe UFO USB UN TV tv UAV Ouija onesie bed horse hotel house 1 7 10 12 100 1000 1984 1111 "
        "usual useful euro yacht yellow whale 🐶 كلب 犬 ß - …"
    ),
}


def coco_bare() -> dict[str, str]:
    """Bare caption of every COCO label."""
    bare = {}
    for before, labels in COCO.items():
        opening = {"a": "There is a", "an": "There is an", "plural": "There are", "mass": "There is"}[before]
        bare.update({label: f"{opening} {label}." for label in _words(labels)})
    return bare


def coco_modified() -> dict[tuple[str, str], str]:
    """Caption of every COCO label under every modifier."""
    articles = {word: each for each, words in MODIFIERS.items() for word in _words(words)}
    found = {}
    for before, labels in COCO.items():
        for label in _words(labels):
            for word, chosen in articles.items():
                opening = {"plural": "There are", "mass": "There is"}.get(before, f"There is {chosen}")
                found[label, word] = f"{opening} {word} {label}."
    return found


def _words(text: str) -> list[str]:
    return [word.replace("_", " ") for word in text.split()]
