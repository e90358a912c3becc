"""Objective functions: COCO's BBOB suite, analytic functions, robot tasks."""
