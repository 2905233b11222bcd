"""Objects whose constructor attrs or pydantic writes."""

from programs import analysed, found, marked, write

MODELS = """
    import attr
    import attrs
    import torch
    from attrs import define, field, frozen
    from pydantic import BaseModel

    @frozen
    class Frozen:
        x: int = 1

    class Derived(Frozen):
        pass

    class Own(Frozen):
        def __init__(self, x):
            object.__setattr__(self, "y", x)

    @attr.s(auto_attribs=True, frozen=True)
    class Older:
        x: int = 1

    @define
    class Checked:
        x: int = field(validator=attrs.validators.instance_of(int))

    @define
    class Made:
        x: list = attr.ib(default=attr.Factory(list))

    @define
    class Chosen:
        x: int = field()

        @x.default
        def _x(self):
            return 3

    @define(slots=False)
    class Plain:
        x: int = field(default=1, kw_only=True)

    @attr.s
    class Oldest:
        x = attr.ib(default=1)

    class Result(BaseModel):
        x: int = 1

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.kept = Frozen(3)
            self.result = Result(x=2)

        def forward(self, x):
            x = x * self.kept.x * self.result.x * Plain().x * Oldest().x
            a = Frozen(3)  # BRK623
            b = Derived(3)  # BRK623
            c = Older(3)  # BRK623
            d = Checked(3)  # BRK623
            e = Made()  # BRK623
            f = Chosen()  # BRK623
            g = Result(x=3)  # BRK623
            return x * a.x * b.x * c.x * d.x * f.x * g.x + len(e.x)
"""


def test_a_constructor_that_attrs_or_pydantic_writes(tmp_path):
    result = analysed(tmp_path, {"models.py": MODELS})
    assert {at for at in found(result) if at[0] == "BRK623"} == marked(
        (tmp_path / "models.py").read_text()
    )


def test_a_constructor_of_the_class_itself_is_followed(tmp_path):
    write(tmp_path, {"models.py": MODELS})
    text = (tmp_path / "models.py").read_text().replace("a = Frozen(3)  # BRK623", "a = Own(3)")
    result = analysed(tmp_path, {"models.py": text})
    assert {at for at in found(result) if at[0] == "BRK623"} == marked(text)
