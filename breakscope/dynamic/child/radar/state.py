"""Python values that a module keeps from call to call, put back: a counter must not hide what else
is varied."""

from __future__ import annotations

from typing import Any

import torch

PLAIN = (int, float, str, bool, type(None), tuple)


class State:
    """The plain attributes, lists and dicts of a module and its submodules, as they are now."""

    def __init__(self, model: torch.nn.Module | None) -> None:
        own = vars(torch.nn.Module())  # training, _parameters, hooks, ...
        self.own = frozenset(own)
        self.kept = (
            [(module, self._attributes(module)) for module in model.modules()]
            if model is not None
            else []
        )

    def put_back(self) -> None:
        """As they were; what came since is removed."""
        for module, before in self.kept:
            now = vars(module)
            for name in [
                n for n in now if n not in before and n not in self.own and _may_be_put_back(now[n])
            ]:
                del now[name]
            for name, (value, content) in before.items():
                now[name] = value
                if isinstance(value, list):
                    value[:] = content
                elif isinstance(value, dict):
                    value.clear()
                    value.update(content)

    def _attributes(self, module: torch.nn.Module) -> dict[str, tuple[Any, Any]]:
        return {
            name: (value, value.copy() if isinstance(value, (list, dict)) else value)
            for name, value in vars(module).items()
            if name not in self.own and _may_be_put_back(value)
        }


def _may_be_put_back(value: Any) -> bool:
    return isinstance(value, PLAIN) or type(value) in (list, dict)
