"""Training a small GPT as nanoGPT does: the model is compiled, evaluated now and then, and generates text at last,
one token longer in each call.

Evaluation is another mode, without gradients; the text that grows is a size that varies.

cured: breaks 0, recompiles 2
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn

CURED = "--cured" in sys.argv
torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (
            self.qkv(self.norm(x)).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        )
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.drop(self.out(y.transpose(1, 2).reshape(b, t, c)))


class GPT(nn.Module):
    def __init__(self, vocabulary=32, context=16, width=16):
        super().__init__()
        self.context = context
        self.tokens = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, 2) for _ in range(2))
        self.head = nn.Linear(width, vocabulary)

    # want below: recompile size x1 "dimension 0 (1, 4)"; recompile grad_mode x1
    def forward(self, idx, targets=None):
        x = self.tokens(idx) + self.places(torch.arange(idx.shape[1], device=idx.device))
        for block in self.blocks:
            x = block(x)
        logits = self.head(x)
        if targets is None:
            return logits[:, -1:, :], None
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def batch(length=16):
    data = torch.randint(0, 32, (4, length + 1))
    return data[:, :-1], data[:, 1:]


raw = GPT()
model = torch.compile(raw, backend="eager")
optimizer = torch.optim.AdamW(raw.parameters(), lr=1e-3)
for step in range(6):
    if step % 3 == 0:
        model.eval()
        with torch.no_grad():
            model(*batch())
        model.train()
    logits, loss = model(*batch())
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(raw.parameters(), 1.0)
    optimizer.step()
model.eval()
text = torch.zeros(1, 2, dtype=torch.long)
with torch.no_grad():
    for _ in range(6):
        if CURED:  # the length is dynamic from the first call on
            torch._dynamo.mark_dynamic(text, 1)
        logits, _ = model(text)
        text = torch.cat([text, logits[:, -1].argmax(-1, keepdim=True)], 1)
