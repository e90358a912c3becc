"""The bridge to cocopp: its report in a separate process, its archive, its pages."""
