"""What adapters share that read tensors through host memory: weights, facts, fingerprints."""
