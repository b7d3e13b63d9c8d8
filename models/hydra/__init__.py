"""What the multi-head generator is made of: its encoding, clusters, networks, objectives and training."""
