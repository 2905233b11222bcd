"""The shells complete what the page says, as the page sets them up."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "completion.md"
PROGRAM = Path(sys.executable).with_name("breakscope")
pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not installed")


def setup_of(shell):
    (block,) = re.findall(rf"```{shell}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return block


def said_by(shell, script, folder):
    if not shutil.which(shell):
        pytest.skip(f"no {shell} here")
    path = f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {"PATH": path, "HOME": str(folder), "TERM": "xterm"}
    quiet = {"bash": ["--norc", "--noprofile"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    done = subprocess.run(
        [shell, *quiet, "-c", script],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.stdout + done.stderr


ASKED = {
    "breakscope chec": "check",
    "breakscope rule BRK10": "BRK101",
    "breakscope rule branch-on-t": "branch-on-tensor",
    "breakscope check --stati": "--statistics",
    "breakscope check --format sar": "sarif",
}


@pytest.mark.parametrize("typed", ASKED)
def test_bash(typed, tmp_path):
    words = typed.split()
    script = f"""{setup_of("bash")}
COMP_WORDS=({" ".join(words)}); COMP_CWORD={len(words) - 1}
$(complete -p breakscope | sed 's/.*-F \\([^ ]*\\).*/\\1/') breakscope
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    assert ASKED[typed] in said_by("bash", script, tmp_path).split()


@pytest.mark.parametrize("typed", ASKED)
def test_fish(typed, tmp_path):
    (tmp_path / ".config" / "fish" / "completions").mkdir(parents=True)
    file = "~/.config/fish/completions/breakscope.fish"
    script = f"{setup_of('fish')}\nsource {file}\ncomplete -C '{typed}'"
    firsts = [line.split("\t")[0] for line in said_by("fish", script, tmp_path).splitlines()]
    assert ASKED[typed] in firsts


ZSH = """
zmodload zsh/zpty
zpty z "zsh -f -i"
zpty -w z 'autoload -U compinit; compinit -u -D'
zpty -w z {setup}
zpty -w -n z {typed}$'\\t'
repeat 600; do
    while zpty -r -t z chunk; do out+=$chunk; done
    [[ $out == *{wanted}* ]] && break
    sleep 0.1
done
print -r -- "$out"
zpty -d z
"""


@pytest.mark.parametrize("typed", ASKED)
def test_zsh(typed, tmp_path):
    wanted = ASKED[typed]
    script = ZSH.format(
        setup=f"'{setup_of('zsh').strip()}'", typed=f"'{typed}'", wanted=f"'{wanted}'"
    )
    assert wanted in said_by("zsh", script, tmp_path)
