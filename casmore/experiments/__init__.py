"""From a TOML config over a plan of work units and a runner to published, merged COCO data."""
