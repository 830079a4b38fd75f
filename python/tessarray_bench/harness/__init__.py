"""The harness: where each system runs, in which order, in processes of their own, within limits; and what came out."""
