"""What sphinx-gallery does not take from an example: figures that pyplot does not know, and GIFs.

sphinx-gallery itself turns animations into players, which load icons from the network.
"""

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.animation import Animation
from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst


def scrape(block: tuple[Any, ...], block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save animations and figures that a block of code made; return the directives to show them."""
    shown = block_vars["example_globals"].setdefault("__shown__", [])
    files = []
    for value in list(block_vars["example_globals"].values()):
        if any(value is other for other in shown):
            continue
        if isinstance(value, Animation):
            files.append(Path(next(block_vars["image_path_iterator"])).with_suffix(".gif"))
            value.save(files[-1], writer="pillow")
            plt.close(value._fig)
            shown.extend([value, value._fig])
        elif isinstance(value, Figure) and not hasattr(value, "number"):
            files.append(Path(next(block_vars["image_path_iterator"])))
            value.savefig(files[-1], dpi=150)
            shown.append(value)
    return str(figure_rst(files, gallery_conf["src_dir"])) if files else ""
