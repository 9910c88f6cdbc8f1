"""Speed of burn, alone (`pytest benchmarks/`) and beside its peers (`python -m benchmarks.compare`)."""
