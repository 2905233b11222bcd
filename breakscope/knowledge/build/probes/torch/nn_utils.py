"""torch.nn.utils, initialization, and modules made inside."""
# ruff: noqa

import torch
import torch.nn as nn
import torch.nn.init
import torch.nn.utils
import torch.nn.utils.rnn

linear = nn.Linear(3, 3)
with_grad = nn.Parameter(torch.zeros(3))
with_grad.grad = torch.ones(3)
packed = torch.nn.utils.rnn.pack_sequence([torch.rand(3, 2), torch.rand(2, 2)])


def cases_nn_utils(x, ts, i, param):
    torch.nn.utils.clip_grad_norm_(linear.parameters(), 1.0)
    torch.nn.utils.clip_grad_norm_([param], 1.0)
    torch.nn.utils.clip_grad_value_([with_grad], 1.0)
    torch.nn.utils.get_total_norm([x])
    torch.nn.utils.parameters_to_vector(linear.parameters())
    torch.nn.utils.vector_to_parameters(torch.zeros(12), linear.parameters())
    torch.nn.utils.rnn.pad_sequence(ts)
    torch.nn.utils.rnn.pad_sequence(ts, batch_first=True, padding_value=0.0)
    torch.nn.utils.rnn.unpad_sequence(x.T, torch.tensor([2, 3, 1, 1]))  # raises
    torch.nn.utils.rnn.pack_padded_sequence(x[None], torch.tensor([4]), batch_first=True)
    torch.nn.utils.rnn.pack_padded_sequence(x[None], [4], batch_first=True)
    torch.nn.utils.rnn.pack_padded_sequence(
        x[None], torch.tensor([4]), batch_first=True, enforce_sorted=False
    )
    torch.nn.utils.rnn.pack_sequence(ts)
    torch.nn.utils.rnn.pad_packed_sequence(packed)
    torch.nn.utils.rnn.pad_packed_sequence(packed, batch_first=True, total_length=5)
    torch.nn.utils.weight_norm(nn.Linear(2, 2))
    torch.nn.utils.spectral_norm(nn.Linear(2, 2))
    torch.nn.utils.fuse_conv_bn_eval  # as: torch.nn.utils.fuse_conv_bn_eval
    torch.nn.utils.stateless.functional_call(linear, {}, (x,))
    torch.nn.utils.skip_init(nn.Linear, 2, 2)
    torch.nn.init.normal_(param)
    torch.nn.init.uniform_(param)
    torch.nn.init.zeros_(param)
    torch.nn.init.constant_(param, 1.0)
    torch.nn.init.xavier_uniform_(param)
    torch.nn.init.kaiming_normal_(param)
    torch.nn.init.trunc_normal_(param)
    torch.nn.init.orthogonal_(param)
    torch.nn.init.eye_(param)
    torch.nn.Parameter(x)
    torch.nn.Parameter(torch.zeros(3))
    torch.nn.parameter.UninitializedParameter()
    torch.nn.parameter.is_lazy(param)  # as: torch.nn.is_lazy
    torch.nn.Linear(3, 3)
    torch.nn.Linear(3, 3)(x)  # as: torch.nn.Linear made and called
    torch.nn.ReLU()
    torch.nn.Dropout(0.1)
    torch.nn.CrossEntropyLoss()
    torch.nn.Sequential(linear)
    torch.nn.ModuleList([linear])
    torch.nn.ModuleDict({"a": linear})
    torch.nn.ParameterList([x])
    torch.nn.Conv2d(1, 1, 1)
    torch.nn.LayerNorm(3)
    torch.nn.Embedding(3, 3)
    torch.nn.Identity()
    torch.nn.Module()
