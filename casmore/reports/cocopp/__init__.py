"""The bridge to cocopp: its report in a process of its own, its archive, its pages."""
