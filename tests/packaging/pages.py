"""The README and the pages of docs/ as their tests read them: blocks, commands and outputs.

    python tests/packaging/pages.py

writes the outputs in them anew. A block of kind `console` begins with `$ breakscope ...`; what
follows is what the command prints, where a line `...` stands for paragraphs that were left out. A
block that begins with `# NAME.py` or `# NAME.toml` is a file that the page's commands find.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from import_path import PYTHONPATH

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"\A# ([\w/]+\.(?:py|toml))\n")
LEFT_OUT = "..."
# what differs from run to run: times, and what is reported only where the measurement is steady
MEASURED = re.compile(r"\d+(?:\.\d+)? (?:s|ms|us)\b")
UNSTEADY = re.compile(r"; \d+% of op time compiled|^note: .*\n?", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    page: Path
    kind: str
    text: str

    @property
    def command(self) -> str:
        """The command of a console block, without `$ `."""
        return self.text.partition("\n")[0].removeprefix("$ ")

    @property
    def output(self) -> str:
        return self.text.partition("\n")[2]

    @property
    def name(self) -> str:
        return f"{self.page.name}: {self.command[:60]}"


def blocks(*kinds: str) -> list[Block]:
    """The blocks of these kinds, page by page."""
    return [
        Block(page, kind, text)
        for page in PAGES
        for kind, text in BLOCK.findall(page.read_text(encoding="utf-8"))
        if kind in kinds
    ]


def commands(block: Block) -> Iterator[list[str]]:
    """The breakscope commands of a `console` or `sh` block, each without the name of the program."""
    lines = [block.command] if block.kind == "console" else block.text.splitlines()
    for line in lines:
        words = shlex.shlex(line, posix=True, punctuation_chars=True)
        words.whitespace_split = True
        found: list[str] | None = None
        for word in [*words, ";"]:
            if set(word) <= set("();<>|&"):
                if found is not None:
                    yield found
                found = None
            elif found is not None:
                found.append(word)
            elif word.rpartition("/")[2] == "breakscope":
                found = []


def is_run(block: Block) -> bool:
    """True for a command that needs torch."""
    return shlex.split(block.command)[1] in ("run", "bench", "trace")


def printed(block: Block, folder: Path) -> str:
    """What the command prints in a folder that holds the samples and the files of its page."""
    shutil.copytree(ROOT / "samples", folder / "samples")
    for other in blocks("python", "toml"):
        if other.page == block.page and (file := FILE.match(other.text)):
            path = folder / file[1]
            path.parent.mkdir(exist_ok=True)
            path.write_text(other.text[file.end() :], encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": PYTHONPATH, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "breakscope", *shlex.split(block.command)[1:]],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def paragraphs(text: str, measured: bool = True) -> list[str]:
    """The paragraphs of an output; without what was measured, when that is not wanted."""
    if not measured:
        text = UNSTEADY.sub("", MEASURED.sub("TIME", text))
    return [part.strip("\n") for part in text.split("\n\n") if part.strip("\n")]


def shown_paragraphs(text: str, measured: bool = True) -> list[str]:
    """Those of a page's block, without the lines that stand for others."""
    kept = [line if line != LEFT_OUT else "" for line in text.splitlines()]
    return paragraphs("\n".join(kept), measured)


def pasted(block: Block, output: str) -> str:
    """The block's text with what the command prints now, abridged as before."""
    if LEFT_OUT not in block.output.splitlines():
        return f"$ {block.command}\n{output}"
    now = {key(part): part for part in paragraphs(output)}
    text = block.output
    for part in shown_paragraphs(block.output):
        text = text.replace(part, now[key(part)])
    return f"$ {block.command}\n{text}"


def key(paragraph: str) -> str:
    """Place and code of a finding, or the first words of anything else."""
    return " ".join(paragraph.split()[:2])


def main() -> None:
    for block in blocks("console"):
        with tempfile.TemporaryDirectory() as folder:
            output = printed(block, Path(folder))
        text = block.page.read_text(encoding="utf-8")
        new = text.replace(
            f"```console\n{block.text}```", f"```console\n{pasted(block, output)}```"
        )
        block.page.write_text(new, encoding="utf-8")
        print(f"{block.name}: {'as it was' if new == text else 'written anew'}", flush=True)


if __name__ == "__main__":
    main()
