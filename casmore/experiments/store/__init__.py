"""What is on the disk: the run folder, locks, atomic I/O, checksums, COCO files."""
