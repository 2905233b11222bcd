"""What a rule leans on: rules and the events they listen to, abstract values, usage of torch.compile, rewriting helpers."""
