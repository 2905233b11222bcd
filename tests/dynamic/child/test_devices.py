"""Targets on another device: "meta" is one that every machine has. (A GPU takes over a parameter's
data, so that optimizers keep their parameters; "meta" makes new ones.)"""

import torch

from breakscope.dynamic.child.tensors import move_function

META = torch.device("meta")


class Trainer:
    def __init__(self):
        self.model = torch.nn.Linear(3, 2)
        self.optimizer = torch.optim.AdamW(self.model.parameters())
        self.schedule = torch.optim.lr_scheduler.LinearLR(self.optimizer)
        self.averages = {"loss": torch.zeros(2), "steps": 3}
        self.names = ["a", "b"]
        self.again = self

    def step(self, x):
        return self.model(x)


def devices(trainer):
    return {value.device.type for value in (*trainer.model.parameters(), trainer.averages["loss"])}


def test_what_a_methods_owner_holds_is_moved():
    trainer = Trainer()
    names = trainer.names
    assert move_function(trainer.step, META).__self__ is trainer and devices(trainer) == {"meta"}
    assert trainer.names is names and trainer.averages["steps"] == 3


def test_what_a_closure_holds_is_moved():
    trainer = Trainer()

    def step(x):
        return trainer.step(x)

    move_function(step, META)
    assert devices(trainer) == {"meta"}
