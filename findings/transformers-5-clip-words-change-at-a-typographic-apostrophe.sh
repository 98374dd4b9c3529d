#!/bin/sh
# transformers 5.23.0: CLIPTokenizer reads "a dog’s bed" (the apostrophe that phones and word processors write) as other
# words than "a dog's bed". CLIP itself, open_clip and CLIPTokenizer of transformers 4 (with ftfy) make ’ “ ” plain first,
# and fold full-width letters: one token for 's, not three for ’ and s. CLIPTokenizerFast never did; in transformers 5 the
# one name stands for the other, so that after an upgrade the same checkpoint scores such captions anew, without a
# warning. The vocabulary is CLIP's, as open_clip ships it. Exits 0 where that is still so.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
for version in 4.57.1 5.23.0; do
  python3 -m venv "$place/$version"
  "$place/$version/bin/python" -m pip install -q --disable-pip-version-check "transformers==$version" ftfy==6.3.1
done
"$place/5.23.0/bin/python" -m pip download -q --no-deps -d "$place" open_clip_torch==3.3.0
cat > "$place/vocabulary.py" <<'PY'
import gzip, json, sys, zipfile
from pathlib import Path
from transformers.models.clip.tokenization_clip import bytes_to_unicode
place = Path(sys.argv[1])
wheel = zipfile.ZipFile(next(place.glob("open_clip_torch-*.whl")))
text = gzip.decompress(wheel.read("open_clip/bpe_simple_vocab_16e6.txt.gz")).decode()
merges = [line for line in text.split("\n")[1 : 49152 - 256 - 2 + 1]]
letters = list(bytes_to_unicode().values())
words = [*letters, *(each + "</w>" for each in letters), *("".join(each.split()) for each in merges)]
words += ["<|startoftext|>", "<|endoftext|>"]
folder = place / "clip"
folder.mkdir()
(folder / "vocab.json").write_text(json.dumps({word: number for number, word in enumerate(words)}))
(folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(merges) + "\n")
PY
cat > "$place/words.py" <<'PY'
import json, sys
from transformers import CLIPTokenizer
tokenizer = CLIPTokenizer.from_pretrained(sys.argv[1])
captions = ["a dog's bed", "a dog\u2019s bed", "a \u201cred\u201d car", 'a "red" car']
print(json.dumps([tokenizer.convert_ids_to_tokens(tokenizer(each)["input_ids"])[1:-1] for each in captions]))
PY
"$place/4.57.1/bin/python" "$place/vocabulary.py" "$place" 2> "$place/log" || { cat "$place/log"; exit 1; }
"$place/4.57.1/bin/python" "$place/words.py" "$place/clip" > "$place/old.json" 2> "$place/log" || { cat "$place/log"; exit 1; }
"$place/5.23.0/bin/python" "$place/words.py" "$place/clip" > "$place/new.json" 2> "$place/log" || { cat "$place/log"; exit 1; }
python3 - "$place" <<'PY'
import json, sys
from pathlib import Path
old, new = (json.loads((Path(sys.argv[1]) / name).read_text()) for name in ("old.json", "new.json"))
print("transformers 4.57.1:", old, "transformers 5.23.0:", new, sep="\n")
sys.exit(0 if old[0] == old[1] == new[0] != new[1] and old[2] == old[3] == new[3] != new[2] else 1)
PY
