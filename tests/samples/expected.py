"""What breakscope is to say of each sample, measured under torch 2.13.0 with backend eager and
three equal calls.

A line is named by its text, so that it may move.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SAMPLES = Path(__file__).resolve().parents[2] / "samples"


@dataclass(frozen=True)
class Break:
    """A line that ends the graph: the code of its finding, and Dynamo's id for it.

    `only_run`: the source does not show it, so that a run alone finds it.
    """

    text: str
    code: str
    dynamo: str
    only_run: bool = False


@dataclass(frozen=True)
class Sample:
    """`behind`: lines that would break too, were the frame not lost before Dynamo comes to them.
    `recompiles`: the guard families of a run. `hazards`: code and line of the recompiles that the
    source shows."""

    breaks: tuple[Break, ...]
    behind: tuple[str, ...] = ()
    recompiles: frozenset[str] = frozenset()
    hazards: tuple[tuple[str, str], ...] = ()


EXPECTED = {
    "gpt.py": Sample(
        breaks=(Break("if finished.all():", "BRK101", "GB0170"),),
        recompiles=frozenset({"size"}),
        hazards=(("BRK707", "self.cached = (k, v)"),),
    ),
    "moe.py": Sample(
        breaks=(
            Break("counts = torch.bincount(chosen.flatten(), minlength=len(self.experts)).float()", "BRK306", "GB0036"),
            Break("if share.max() > 0.9:", "BRK101", "GB0170"),
            Break("token, slot = torch.where(chosen == number)", "BRK301", "GB0036"),
        ),
        recompiles=frozenset({"size"}),
    ),
    "detector.py": Sample(
        breaks=(
            Break("best = order[0].item()", "BRK201", "GB0124"),
            Break("if not confident.any():", "BRK101", "GB0170"),
            Break("boxes, best_scores, labels = boxes[confident], best_scores[confident], labels[confident]", "BRK302",
                  "GB0036"),
            Break("return [self.detect(boxes, scores) for boxes, scores in zip(all_boxes, all_scores)]", "",
                  "GB4347", only_run=True),
        ),
        behind=("order = rest[overlap(boxes[best][None], boxes[rest])[0] <= threshold]",),
        recompiles=frozenset({"size"}),
    ),
    "vae.py": Sample(
        breaks=(
            Break("if torch.isnan(loss):", "BRK102", "GB0170"),
            Break('logger.info("step %d: rebuild %s, kl %s", self.step, rebuild, kl)', "BRK402", "GB0291"),
            Break("self.history.append(kl.item())", "BRK201", "GB0124"),
        ),
        recompiles=frozenset({"attribute", "container_length"}),
        hazards=(("BRK701", "self.step += 1"), ("BRK703", "self.history.append(kl.item())")),
    ),
    "tagger.py": Sample(
        breaks=(
            Break("packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)", "BRK504",
                  "GB0007"),
            Break("hidden, _ = self.lstm(packed)", "BRK503", "GB0014"),
            Break("path = [int(best.argmax())]", "BRK202", "GB0124"),
            Break("path.append(int(source[path[-1]]))", "BRK202", "GB0124"),
            Break("return [self.viterbi(emissions[i], n) for i, n in enumerate(lengths.tolist())]", "BRK204", "GB0033"),
        ),
        behind=("hidden, _ = pad_packed_sequence(hidden, batch_first=True)",),
        recompiles=frozenset({"int_argument"}),
    ),
    "train_step.py": Sample(
        breaks=(
            Break("self.optimizer.zero_grad(set_to_none=True)", "BRK603", "GB0008"),
            Break("loss.backward()", "BRK601", "GB0123"),
            Break("if not torch.isfinite(norm):", "BRK101", "GB0170"),
            Break("self.optimizer.step()", "BRK603", "GB0007"),
            Break("self.schedule.step()", "BRK603", "GB0008"),
            Break("value = loss.item()", "BRK201", "GB0124"),
            Break('print(f"loss {value:.3f} (average {self.average:.3f}), accuracy {accuracy:.2f}")', "BRK401",
                  "GB0059"),
            Break('return {"loss": value, "norm": norm.item()}', "BRK201", "GB0124"),
        ),
        behind=('return {"loss": float("nan"), "norm": norm.item()}',),
        recompiles=frozenset({"attribute", "none_argument", "optimizer_state"}),
        hazards=(("BRK701", "self.skipped += 1"),),
    ),
    "diffusion.py": Sample(
        breaks=(
            Break("if (limit > 1).any():", "BRK101", "GB0170"),
            Break("kept = self.kept[t]", "BRK213", "GB0033"),
        ),
        behind=(
            "kept_next = self.kept[self.times[i + 1]] if i + 1 < len(self.times) else torch.tensor(1.0)",
            "sigma = self.eta * math.sqrt((1 - kept_next) / (1 - kept) * (1 - kept / kept_next))",
            "if t > 0:",
        ),
    ),
}
TWINS = tuple(name.replace(".py", "_clean.py") for name in EXPECTED)


def line_of(file: str, text: str) -> int:
    """The line that has this text and no other; ValueError when none or several have it."""
    lines = [line.strip() for line in (SAMPLES / file).read_text(encoding="utf-8").splitlines()]
    if lines.count(text) != 1:
        raise ValueError(f"{file} has {lines.count(text)} lines {text!r}")
    return lines.index(text) + 1
