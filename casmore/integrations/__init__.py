"""Adapters that make CAS-MORE available in other libraries."""
