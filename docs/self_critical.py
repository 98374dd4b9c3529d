"""Self-critical training of a tiny captioner on a reward, with its guard and without it, and how far it drifts.

    python docs/self_critical.py --out drift --reward pac-s++

A recurrent net learns the captions of the demo corpus by cross-entropy, then to raise the reward of what it samples
(paper C, 4.2, with samples instead of beams). Held-out pictures show what became of its captions.
"""

import argparse
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

import invariscope
from core.charts.still import drawing
from core.corpora.item_pictures import read_item
from core.corpora.registry import find

END, MOST_WORDS, SAMPLES, BATCH = 0, 24, 5, 16


class Captioner(nn.Module):
    """A picture's features begin the state of a recurrent net, which says one word after the other."""

    def __init__(self, width: int, words: Sequence[str]) -> None:
        super().__init__()
        self.words = list(words)
        self.begin, self.embed = nn.Linear(width, 128), nn.Embedding(len(words) + 1, 64)  # END is 0 and begins, too
        self.cell, self.says = nn.GRUCell(64, 128), nn.Linear(128, len(words) + 1)

    def told(self, features: Tensor, given: Tensor | None = None, *, sample: bool = False) -> tuple[Tensor, Tensor]:
        """Say captions, or read those given: ids, int64 [n, MOST_WORDS], and the log-probability of each, [n]."""
        state = torch.tanh(self.begin(features))
        word = torch.full((len(features),), END)
        open_, total, ids = torch.ones(len(features)), torch.zeros(len(features)), []
        for place in range(MOST_WORDS):
            state = self.cell(self.embed(word), state)
            logs = self.says(state).log_softmax(-1)
            if given is not None:
                word = given[:, place]
            else:
                word = torch.multinomial(logs.exp(), 1)[:, 0] if sample else logs.argmax(-1)
            word = torch.where(open_ > 0, word, END)
            total = total + open_ * logs.gather(1, word[:, None])[:, 0]
            open_ = open_ * (word != END)
            ids.append(word)
        return torch.stack(ids, 1), total

    def ids(self, captions: Sequence[str]) -> Tensor:
        """Captions as ids, [n, MOST_WORDS]; what is longer is cut."""
        place = {word: index for index, word in enumerate(self.words, 1)}
        rows = [[place[word] for word in text.split()][: MOST_WORDS - 1] for text in captions]
        return torch.tensor([row + [END] * (MOST_WORDS - len(row)) for row in rows])

    def texts(self, ids: Tensor) -> list[str]:
        """Ids as captions."""
        return [" ".join(self.words[each - 1] for each in row if each != END) for row in ids.tolist()]


def learn(captioner: Captioner, features: Tensor, captions: Sequence[str], *, steps: int) -> None:
    """Cross-entropy with people's captions (equation 16)."""
    optimizer, given = torch.optim.Adam(captioner.parameters(), 3e-3), captioner.ids(captions)
    for _ in range(steps):
        rows = torch.randint(len(features), (BATCH,))
        loss = -captioner.told(features[rows], given[rows])[1].mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def improve(
    captioner: Captioner,
    features: Tensor,
    images: list[np.ndarray],
    reward: invariscope.Reward,
    *,
    steps: int,
    rate: float,
) -> None:
    """Self-critical steps: what was sampled is made likelier by its reward above the mean of its picture's samples."""
    optimizer = torch.optim.Adam(captioner.parameters(), rate)
    for _ in range(steps):
        rows = torch.randint(len(features), (BATCH,)).repeat_interleave(SAMPLES)
        ids, logs = captioner.told(features[rows], sample=True)
        rewards = torch.from_numpy(reward([images[row] for row in rows.tolist()], captioner.texts(ids)))
        grouped = rewards.view(BATCH, SAMPLES)
        above = (grouped - grouped.mean(1, keepdim=True)).flatten()
        loss = -(above * logs).mean()  # equation 19
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main(given: Sequence[str] | None = None) -> None:
    """Train twice from one beginning, and draw the drift of both."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--reward", default="conse-lite0", help="an evaluator; this one needs no download")
    options.add_argument("--out", type=Path, default=Path("drift"))
    options.add_argument("--pictures", type=int, default=252)
    options.add_argument("--learn", type=int, default=600, help="steps of cross-entropy")
    options.add_argument(
        "--improve", type=int, default=320, help="self-critical steps, measured at every fourth of them"
    )
    options.add_argument("--rate", type=float, default=5e-4, help="of Adam in the self-critical steps")
    options.add_argument("--device")
    chosen = options.parse_args(given)
    items = find("demo").load(None).items[: chosen.pictures]
    images = [read_item(item).pixels for item in items]
    people = [[text.lower().replace(",", "").replace(".", "") for text in item.captions["en"]] for item in items]
    words = sorted({word for texts in people for text in texts for word in text.split()})
    apart = len(items) // 4
    arms = {
        name: invariscope.Reward(chosen.reward, device=chosen.device, guard=name == "guard")
        for name in ("guard", "none")
    }
    seen = arms["none"].evaluator.encode_images(images)  # the picture as the reward sees it, of unit length
    features = seen * seen.shape[1] ** 0.5
    torch.manual_seed(0)
    begun = Captioner(features.shape[1], words)
    learn(begun, features[apart:], [texts[0] for texts in people[apart:]], steps=chosen.learn)
    said: dict[str, dict[int, list[str]]] = {}
    for name, reward in arms.items():
        captioner = deepcopy(begun)
        torch.manual_seed(1)
        for step in range(0, chosen.improve + 1, max(chosen.improve // 4, 1)):
            if step:
                steps = max(chosen.improve // 4, 1)
                improve(captioner, features[apart:], images[apart:], reward, steps=steps, rate=chosen.rate)
            with torch.no_grad():
                said.setdefault(name, {})[step] = captioner.texts(captioner.told(features[:apart])[0])
            plain = arms["none"](images[:apart], said[name][step])
            print(f"{name}, step {step}: reward without guard {plain.mean():.4f}, e.g. {said[name][step][0]!r}")
    table = invariscope.drift(said, people[:apart])
    chosen.out.mkdir(parents=True, exist_ok=True)
    table.to_csv(chosen.out / "drift.csv", index=False)
    (chosen.out / "drift.svg").write_bytes(drawing(invariscope.drift_figure(table)))


if __name__ == "__main__":
    main()
