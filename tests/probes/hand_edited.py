"""Captions edited by hand in five languages, and what an edit refuses, beside those of ``test_lexical``.

The draws are those of ``test_lexical.Dealt``: of ten words the 1st, 3rd, 5th, 7th and 10th are hit at 0.4.
"""

from collections.abc import Callable, Mapping

import numpy as np

from core.probes.words.caption_words import join, words
from core.probes.words.lexical_edits import ON_WORDS, SHARE


def _on_text(name: str) -> Callable[..., str]:
    def edited(caption: str, rng: np.random.Generator, *, language: str = "en", share: float = SHARE) -> str:
        return join(ON_WORDS[name](words(caption, language), rng, language, share), language)

    return edited


EDITS: Mapping[str, Callable[..., str]] = {name: _on_text(name) for name in ON_WORDS if name != "kept"}
"""The five edits of paper B by name, of a caption that is not split yet."""

_BY_HAND = {
    "en": (
        ("repetition", "A cat sleeps on the sofa.", "A A cat sleeps sleeps on the the sofa."),
        ("removal", "Three birds fly over the sea.", "birds over sea."),
        ("masking", "A train crosses a bridge.", "[MASK] train [MASK] a [MASK]"),
        ("jumble", "The cow eats.", "eats. cow The"),
        ("substitution", "The boy throws the ball.", "The ball throws the boy."),
        ("swap-nouns", "A woman holds an umbrella.", "An umbrella holds a woman."),
        ("drop-nouns", "A dog runs behind a bicycle.", "A runs behind a"),
        ("repeat-first-noun", "Two dogs wait in the garden.", "Two dogs wait in the dogs garden."),
        ("removal:printed", "A spoon is in the cup.", "A is the"),
        ("masking:p0.1", "The sky is blue.", "[MASK] sky is blue."),
        (
            "masking:p0.8",
            "An elephant drinks water from a river.",
            "[MASK] elephant [MASK] [MASK] [MASK] [MASK] [MASK]",
        ),
        ("repetition:p0.2", "A plate of fruit is on the table.", "A A plate of fruit is on the table."),
        ("removal:p0.3", "Four horses run through a meadow.", "horses run through meadow."),
        ("jumble", "A small dog barks.", "barks. dog small A"),
        ("substitution", "On the street is a car.", "On the car is a street."),
        ("swap-nouns", "A child and a kite at the beach.", "A beach and a kite at the child."),
    ),
    "de": (
        ("repetition", "Eine Katze schläft auf dem Sofa.", "Eine Eine Katze schläft schläft auf dem dem Sofa."),
        ("removal", "Drei Vögel sitzen auf einem Zaun.", "Vögel auf Zaun."),
        ("masking", "Ein Zug fährt durch die Berge.", "[MASK] Zug [MASK] durch [MASK] Berge."),
        ("jumble", "Die Kuh frisst Gras.", "Gras. frisst Kuh Die"),
        ("substitution", "Eine Katze jagt eine Maus.", "Eine Maus jagt eine Katze."),
        ("swap-nouns", "Ein Bus steht hinter einem Baum.", "Ein Baum steht hinter einem Bus."),
        ("drop-nouns", "Eine Frau trägt einen Hut.", "Eine trägt einen"),
        ("repeat-first-noun", "Zwei Boote liegen im Hafen.", "Zwei Boote liegen im Boote Hafen."),
        ("removal:printed", "Ein Löffel liegt in der Tasse.", "Ein liegt der"),
        ("masking:p0.1", "Der Himmel ist blau.", "[MASK] Himmel ist blau."),
        (
            "masking:p0.8",
            "Ein Elefant trinkt Wasser aus dem Fluss.",
            "[MASK] Elefant [MASK] [MASK] [MASK] [MASK] [MASK]",
        ),
        ("repetition:p0.2", "Ein Teller mit Obst steht auf dem Tisch.", "Ein Ein Teller mit Obst steht auf dem Tisch."),
        ("removal:p0.3", "Pferde laufen über eine Wiese.", "laufen über eine"),
        ("jumble", "Ein kleiner Hund bellt.", "bellt. Hund kleiner Ein"),
        ("substitution", "Auf der Straße parkt ein Auto.", "Auf dem Auto parkt eine Straße."),
        ("swap-nouns", "Ein Kind und ein Drachen am Strand.", "Ein Strand und ein Drachen am Kind."),
    ),
    "fr": (
        ("repetition", "Un chat dort sur le canapé.", "Un Un chat dort dort sur le le canapé."),
        ("removal", "Trois oiseaux volent dans le ciel.", "oiseaux dans ciel."),
        ("masking", "Un train traverse un pont.", "[MASK] train [MASK] un [MASK]"),
        ("jumble", "La vache mange.", "mange. vache La"),
        ("substitution", "Le garçon lance la balle.", "La balle lance le garçon."),
        ("swap-nouns", "Une femme tient un parapluie.", "Un parapluie tient une femme."),
        ("drop-nouns", "Un chien court derrière un vélo.", "Un court derrière un"),
        ("repeat-first-noun", "Des bateaux restent dans le port.", "Des bateaux restent dans le bateaux port."),
        ("removal:printed", "Une cuillère est dans la tasse.", "Une est la"),
        ("masking:p0.1", "Le ciel est bleu.", "[MASK] ciel est bleu."),
        ("masking:p0.8", "L'éléphant boit de l'eau.", "[MASK] boit [MASK] [MASK]"),
        (
            "repetition:p0.2",
            "Une assiette de fruits attend sur la table.",
            "Une Une assiette de fruits attend sur la table.",
        ),
        ("removal:p0.3", "Quatre chevaux galopent dans un pré.", "chevaux galopent dans pré."),
        ("jumble", "Un petit chien aboie.", "aboie. chien petit Un"),
        ("substitution", "Dans la rue passe une voiture.", "Dans la voiture passe une rue."),
        ("swap-nouns", "Un enfant et un ballon sur la plage.", "Une plage et un ballon sur l'enfant."),
    ),
    "es": (
        ("repetition", "Un gato duerme en el sofá.", "Un Un gato duerme duerme en el el sofá."),
        ("removal", "Tres pájaros vuelan sobre el mar.", "pájaros sobre mar."),
        ("masking", "Un tren cruza un puente.", "[MASK] tren [MASK] un [MASK]"),
        ("jumble", "La vaca come.", "come. vaca La"),
        ("substitution", "El niño lanza la pelota.", "La pelota lanza el niño."),
        ("swap-nouns", "Una mujer lleva un paraguas.", "Un paraguas lleva una mujer."),
        ("drop-nouns", "Un perro corre tras una bicicleta.", "Un corre tras una"),
        ("repeat-first-noun", "Dos barcos esperan en el puerto.", "Dos barcos esperan en el barcos puerto."),
        ("removal:printed", "Una cuchara está en la taza.", "Una está la"),
        ("masking:p0.1", "El cielo es azul.", "[MASK] cielo es azul."),
        ("masking:p0.8", "El elefante bebe agua del río.", "[MASK] elefante [MASK] [MASK] [MASK] [MASK]"),
        ("repetition:p0.2", "Un plato de fruta está sobre la mesa.", "Un Un plato de fruta está sobre la mesa."),
        ("removal:p0.3", "Cuatro caballos corren por el prado.", "caballos corren por prado."),
        ("jumble", "Un perro pequeño ladra.", "ladra. pequeño perro Un"),
        ("substitution", "En la calle hay un coche.", "En el coche hay una calle."),
        ("swap-nouns", "Un niño y una cometa en la playa.", "Una playa y una cometa en el niño."),
    ),
    "ja": (
        ("repetition", "猫が寝る。", "猫猫が寝る寝る。"),
        ("removal", "鳥が空を飛ぶ。", "がを。"),
        ("masking", "馬が草を食べる。", "[MASK]が[MASK]を[MASK]。"),
        ("jumble", "牛が歩く。", "。歩くが牛"),
        ("substitution", "男の子がボールを投げる。", "ボールが男の子を投げる。"),
        ("swap-nouns", "傘が女性を守る。", "女性が傘を守る。"),
        ("drop-nouns", "犬と自転車", "と"),
        ("repeat-first-noun", "船が港にある。", "船が港に船ある。"),
        ("removal:printed", "鍵が箱にある。", "鍵箱ある"),
        ("masking:p0.1", "空が青い。", "[MASK]が青い。"),
        ("masking:p0.8", "象が水を飲む。", "[MASK]が[MASK][MASK][MASK][MASK]"),
        ("repetition:p0.2", "花が机にある。", "花花が机にある。"),
        ("removal:p0.3", "馬が走る。", "が走る。"),
        ("jumble", "犬が吠える。", "。吠えるが犬"),
        ("substitution", "車が道を走る。", "道が車を走る。"),
        ("swap-nouns", "本と皿が椅子にある。", "椅子と皿が本にある。"),
    ),
}

EDITED = [(name, language, *texts) for language, rows in _BY_HAND.items() for name, *texts in rows]
"""Probe, language, caption, what it becomes."""

REFUSED = [
    ("removal", "de", "Hund.", "unchanged"),
    ("removal", "fr", "Chien.", "unchanged"),
    ("removal", "es", "Perro.", "unchanged"),
    ("removal", "ja", "猫", "unchanged"),
    ("jumble", "de", "Hund Hund", "unchanged"),
    ("jumble", "fr", "chien chien", "unchanged"),
    ("jumble", "es", "Perro", "unchanged"),
    ("removal:printed", "fr", "Bateau.", "unchanged"),
    ("removal:printed", "es", "Barco.", "unchanged"),
    ("repetition", "fr", "  ", "unchanged"),
    ("masking", "es", "", "unchanged"),
    ("substitution", "fr", "Il pleut.", "few-nouns"),
    ("swap-nouns", "fr", "L'oiseau et l'arbre.", "few-nouns"),
    ("substitution", "de", "Zwei Kinder spielen im Park.", "few-nouns"),
    ("substitution", "ja", "二人の子供が公園にいる。", "few-nouns"),
    ("substitution", "es", "Llueve mucho.", "few-nouns"),
    ("substitution", "ja", "走る。", "few-nouns"),
    ("drop-nouns", "de", "Es regnet stark.", "few-nouns"),
    ("drop-nouns", "es", "Está lejos.", "few-nouns"),
    ("swap-nouns", "fr", "Un chat et un chat.", "few-nouns"),
    ("repeat-first-noun", "ja", "走る。", "few-nouns"),
    ("swap-nouns", "de", "Ein Boot.", "few-nouns"),
]
"""Probe, language, caption, code of the reason."""
