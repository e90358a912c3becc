"""Errors of reports."""


class ReportError(RuntimeError):
    """The report could not be made; the message says why and what to do."""
