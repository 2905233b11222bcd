"""From records to facts: breaks, compiles, recompiles, CUDA graphs, several processes."""
