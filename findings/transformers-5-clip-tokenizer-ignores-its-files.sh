#!/bin/sh
# transformers 5.23.0: CLIPTokenizer(vocab_file=..., merges_file=...), as transformers 4 takes it and as scripts of CLIP
# metrics write it, opens neither file and says nothing: its vocabulary has two entries, so that any two captions of as
# many letters are the same tokens, and get the same score. The arguments are vocab and merges now; others are swallowed
# by **kwargs. Exits 0 where that is still so.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/python" -m pip install -q --disable-pip-version-check transformers==5.23.0
cat > "$place/files.py" <<'PY'
import json, sys
from pathlib import Path
from transformers import CLIPTokenizer
place = Path(sys.argv[1])
letters = "abcdefghijklmnopqrstuvwxyz"
words = [*letters, *(each + "</w>" for each in letters), "<|startoftext|>", "<|endoftext|>"]
(place / "vocab.json").write_text(json.dumps({word: number for number, word in enumerate(words)}))
(place / "merges.txt").write_text("#version: 0.2\n")
files = str(place / "vocab.json"), str(place / "merges.txt")
named = CLIPTokenizer(vocab_file=files[0], merges_file=files[1])
read = CLIPTokenizer(vocab=files[0], merges=files[1])
one, other = "a dog on a bed", "a cat in a car"
for how, tokenizer in (("vocab_file, merges_file", named), ("vocab, merges", read)):
    print(how, len(tokenizer), tokenizer(one)["input_ids"], tokenizer(other)["input_ids"])
same = named(one)["input_ids"] == named(other)["input_ids"]
sys.exit(0 if same and read(one)["input_ids"] != read(other)["input_ids"] else 1)
PY
"$place/env/bin/python" "$place/files.py" "$place" 2> "$place/log" || { cat "$place/log"; exit 1; }
