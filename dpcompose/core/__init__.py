"""The mathematics of pipelines: no input, no output, no third-party package."""
