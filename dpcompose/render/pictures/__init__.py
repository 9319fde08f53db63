"""Pictures: pipelines as graphs, labels and badges."""
