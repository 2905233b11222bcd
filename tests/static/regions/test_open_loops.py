"""Loops around a region that end when something happens which nobody knows beforehand: how many turns they take
differs, and so does what they gather. Each program was measured under torch 2.13: it compiles again for what is
marked, and for nothing else."""

import textwrap

import pytest
from programs import analysed, found

HEAD = """\
import random

import torch


class Corridor:
    def __init__(self, length):
        self.length = length

    def reset(self):
        self.at = 0
        return torch.zeros(2)

    def step(self, action):
        self.at += 1 if action > 0 else 0
        return torch.tensor([self.at / self.length, random.random()]), self.at >= self.length


class Clock:
    def reset(self):
        self.time = 0
        return torch.zeros(2)

    def step(self, action):
        self.time += 1
        return torch.zeros(2), self.time >= 3


@torch.compile
def step(x):
    return x * 2  # SIZE


"""
PROGRAMS = {
    "an episode": """
        def episode(env):
            states, state, done = [], env.reset(), False
            while not done:
                states.append(state)
                state, done = env.step(torch.randn(2).sum().item())
            return torch.stack(states)


        for _ in range(4):
            step(episode(Corridor(4)))
    """,
    "an episode that a break ends": """
        def episode(env):
            states, state = [], env.reset()
            while True:
                states.append(state)
                state, done = env.step(torch.randn(2).sum().item())
                if done:
                    break
            return torch.stack(states)


        for _ in range(4):
            step(episode(Corridor(4)))
    """,
    "an episode with a horizon": """
        def episode(env):
            states, state = [], env.reset()
            for _ in range(50):
                states.append(state)
                state, done = env.step(torch.randn(2).sum().item())
                if done:
                    break
            return torch.stack(states)


        for _ in range(4):
            step(episode(Corridor(4)))
    """,
    "a loop in a loop": """
        env = Corridor(4)
        for _ in range(4):
            states, state, done = [], env.reset(), False
            while not done:
                states.append(state)
                state, done = env.step(torch.randn(2).sum().item())
            step(torch.stack(states))
    """,
}
QUIET = {
    "training that stops early": """
        for _ in range(4):
            y = step(torch.ones(3))
            if y.sum() < 0:
                break
    """,
    "episodes of one length": """
        def episode(env):
            states, state, done = [], env.reset(), False
            while not done:
                states.append(state)
                state, done = env.step(torch.randn(2).sum().item())
            return torch.stack(states)


        for _ in range(4):
            step(episode(Clock()))
    """,
    "a loop that tries until it has something": """
        def positive():
            while True:
                x = torch.randn(2)
                if x.sum() > 0:
                    return x


        for _ in range(4):
            step(positive())
    """,
}


def lines_of(folder, program):
    source = HEAD + textwrap.dedent(program).lstrip("\n")
    lines = source.splitlines()
    return [(code, lines[line - 1]) for code, line in found(analysed(folder, {"run.py": source}))]


@pytest.mark.parametrize("what", PROGRAMS)
def test_loops_of_another_length_each_time_are_found(what, tmp_path):
    seen = lines_of(tmp_path, PROGRAMS[what])
    assert seen and all("SIZE" in line for _, line in seen)


@pytest.mark.parametrize("what", QUIET)
def test_what_does_not_differ_is_no_hazard(what, tmp_path):
    assert lines_of(tmp_path, QUIET[what]) == []
