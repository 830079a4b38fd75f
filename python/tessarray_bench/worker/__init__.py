"""What runs in a system's own environment: one process for each part of each repeat. NumPy and stdlib only."""
