"""The shared part of adapters that read tensors through host memory."""
