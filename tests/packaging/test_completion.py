"""The shells complete what the page says, as the page sets them up."""

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "completion.md"
PROGRAM = Path(sys.executable).with_name("breakscope")
pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not installed")


def setup_of(shell):
    (block,) = re.findall(rf"```{shell}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return block


def environment(folder):
    path = f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(folder), "TERM": "xterm"}


def said_by(shell, script, folder):
    if not shutil.which(shell):
        pytest.skip(f"no {shell} here")
    quiet = {"bash": ["--norc", "--noprofile"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    done = subprocess.run(
        [shell, *quiet, "-c", script],
        cwd=folder,
        env=environment(folder),
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
    "breakscope check --form": "--format",
    "breakscope check --format sar": "sarif",
    "breakscope check mod": "model.py",
    "breakscope check --config mod": "model.py",
    "breakscope run mod": "model.py",
    "breakscope trace -- python mod": "model.py",
}


def typed_in_bash(typed, wanted, folder):
    """What a terminal shows when this and two tabs are typed, up to what is wanted."""
    pid, terminal = pty.fork()
    if not pid:
        os.chdir(folder)
        os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], environment(folder))
    shown = ""
    try:
        os.write(terminal, f"{setup_of('bash')}echo sour''ced\n".encode())
        for text, awaited in (("", "sourced"), (f"{typed}\t\t", wanted)):
            os.write(terminal, text.encode())
            shown, until = "", time.monotonic() + 300
            while awaited not in shown and time.monotonic() < until:
                if select.select([terminal], [], [], 1)[0]:
                    shown += os.read(terminal, 10_000).decode("utf-8", "replace")
    finally:
        os.close(terminal)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return shown


@pytest.mark.parametrize("typed", ASKED)
def test_bash(typed, tmp_path):
    (tmp_path / "model.py").touch()
    assert ASKED[typed] in typed_in_bash(typed, ASKED[typed], tmp_path)


@pytest.mark.parametrize("typed", ASKED)
def test_fish(typed, tmp_path):
    (tmp_path / "model.py").touch()
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
    (tmp_path / "model.py").touch()
    wanted = ASKED[typed]
    script = ZSH.format(
        setup=f"'{setup_of('zsh').strip()}'", typed=f"'{typed}'", wanted=f"'{wanted}'"
    )
    assert wanted in said_by("zsh", script, tmp_path)
