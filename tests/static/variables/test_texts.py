"""Texts with objects in them, whose letters Dynamo of torch 2.13.0 leaves for later."""

import pytest
from programs import analysed, found

PROGRAM = """\
import torch


class Scale:
    def __init__(self):
        self.by = 2


class Word(str):
    pass


scale = Scale()
word = Word("a")


class Model(torch.nn.Module):
    def forward(self, x):
        {body}
        return x
"""


@pytest.mark.parametrize(
    ("body", "breaks"),
    [
        ("y = f'{scale}'", False),
        ("y = f'{scale}', [f'{self} {x}']", False),
        ("y = f'{scale}'.lower()", True),
        ("y = f'{self}' + 'a'", True),
        ("y = 'a' + f'{scale}'", True),
        ("y = 'a' + f'{x.sum()}'", True),
        ("y = ', '.join([f'{scale}', 'b'])", True),
        ("y = '{}'.format(scale).lower()", True),
        ("y = '%s' % scale", True),
        ("y = '%s' % (scale,)", False),
        ("y = '5%% %r %5s' % (scale, scale)", False),
        ("y = '%d %s' % (1, scale)", True),
        ("y = 'a' == f'{[scale]}'", True),
        ("y = f'{scale!s}'.lower()", False),
        ("y = str(scale).lower()", False),
        ("y = f'{scale.by}'.lower()", False),
        ("y = f'{word}'.lower()", False),
        ("y = f'{[1, 2]} {x.dtype} {Scale}'.lower()", False),
    ],
)
def test_a_text_of_an_object_has_no_letters_yet(tmp_path, body, breaks):
    source = PROGRAM.format(body=body)
    expected = [("BRK212", 19)] if breaks else []
    assert found(analysed(tmp_path, {"program.py": source})) == expected


@pytest.mark.parametrize(
    ("use", "resumes"),
    [
        ("f'{scale}'.lower()", True),
        ("f'{scale}' == 'a'", True),
        ("f'{scale}'[:1]", True),
        ("len(f'{scale}')", False),
        ("'a' in f'{x.sum()}'", False),
        ("f'{x.sum()}' + 'a'", False),
    ],
)
def test_what_stands_behind_the_use(tmp_path, use, resumes):
    source = PROGRAM.format(body=f"y = {use}\n        print(1)")
    printed = [("BRK401", 20)] if resumes else []
    assert found(analysed(tmp_path, {"program.py": source})) == [("BRK212", 19), *printed]


def test_a_comprehension_over_the_letters_of_a_text(tmp_path):
    source = (
        "import torch\n\n\n@torch.compile\ndef f(x, pattern: str = 'a (b)'):\n"
        "    assert not any(c in pattern for c in '[]')\n    return x * len([c for c in 'ab'])\n"
    )
    result = analysed(tmp_path, {"program.py": source})
    assert found(result) == [] and result.gaps == ()


@pytest.mark.parametrize(
    ("text", "breaks"),
    [
        ("'a' + f\"{batch['task']}\"", False),
        ("'a' + f\"{batch.get('task', '')}\"", False),
        ("'a' + f\"{batch['image'] * 2}\"", True),
    ],
)
def test_what_only_an_annotation_says_to_be_a_tensor_may_be_a_text(tmp_path, text, breaks):
    source = f"""\
import torch


@torch.compile
def f(batch: dict[str, torch.Tensor]):
    text = {text}
    return batch["image"] + 1
"""
    assert found(analysed(tmp_path, {"program.py": source})) == ([("BRK212", 6)] if breaks else [])
