"""Objectives: COCO's BBOB suite; others join it here."""
