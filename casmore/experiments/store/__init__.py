"""Storage: the run folder, locks, atomic I/O, checksums, COCO files."""
