"""What the commands do: run, peel, radar, trace, watch, the cost of each break."""
