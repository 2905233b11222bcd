"""What a rule leans on: rules and what they are asked about, abstract values, usage of torch.compile, rewriting helpers."""
