"""The documentation site; `make docs` builds it."""

import importlib.metadata
import importlib.resources
import os
import re
import sys
from pathlib import Path

import numpy
import numpy.typing
from docutils import nodes
from sphinx import addnodes
from sphinx.util.typing import stringify_annotation

_EXAMPLES = Path(__file__).parents[1] / "examples"
sys.path.insert(0, str(Path(__file__).parent))  # for gallery_images
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the matrices of the examples are small
os.environ.setdefault("MUJOCO_GL", "egl")

project = "casmore"
author = "casmore contributors"
version = release = importlib.metadata.version("casmore")
copyright = f"2026, {author}"

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "examples/*.py", "examples/*.ipynb"]
templates_path = ["_templates"]
default_role = "py:obj"
nitpicky = True
# There are no inventories of other projects: the site is built without a network.
nitpick_ignore_regex = [
    (r"py:.*", r"(numpy|np|scipy|matplotlib|gymnasium|optuna|collections|concurrent|pathlib)\..*"),
    (r"py:.*", r"(rich|enum|os|typing|types|functools|datetime|cma|abc)\..*"),
    (r"py:.*", r"Figure|Console|ArrayLike|ndarray|tuple\[str"),
]

# Markdown: the pages are read on GitHub as well
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

# API
autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80
_ALIASES = {
    stringify_annotation(alias, "smart"): name
    for alias, name in (
        (numpy.typing.ArrayLike, "ArrayLike"),
        (numpy.typing.NDArray[numpy.float64], "ndarray"),
        (numpy.typing.NDArray[numpy.int64], "ndarray"),
        (numpy.typing.NDArray[numpy.uint8], "ndarray"),
        (numpy.typing.NDArray[numpy.bool_], "ndarray"),
    )
}
numpydoc_show_class_members = False
numpydoc_validation_checks = {"GL03", "GL06", "GL07", "GL08", "PR02", "RT02", "SS02"}

sphinx_gallery_conf = {
    "examples_dirs": str(_EXAMPLES),
    "gallery_dirs": "examples",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "run_stale_examples": True,  # their output depends on the library as well
    "image_scrapers": ("gallery_images.scrape", "matplotlib"),
    "capture_repr": (),
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_signature": False,
    "image_srcset": ["2x"],
    "write_computation_times": False,
    "doc_module": ("casmore",),
}

# Files outside of docs/ that have a page on the site; on GitHub, links lead to the files.
_PAGES = {
    "casmore/reports/reference_data/README.md": "benchmarks/reference_data.md",
    "results/README.md": "benchmarks/results.md",
    "results/claims.md": "the_paper/claims.md",
    "results/bbob-noisy/scores_by_function.md": "benchmarks/noisy_scores.md",
    "results/bbob-noisy/average_regret.md": "benchmarks/noisy_regret.md",
    "CONTRIBUTING.md": "contributing/index.md",
    "CHANGELOG.md": "contributing/changelog.md",
    "README.md": "index.md",
    **{f"examples/{path.name}": f"examples/{path.stem}.rst" for path in _EXAMPLES.glob("*.py")},
}


def _link_within_the_site(app, page, source):
    for path, target in _PAGES.items():
        source[0] = re.sub(rf"\]\((?:\.\./)+{re.escape(path)}", f"](/{target}", source[0])


def _shorten_signature(app, what, name, thing, options, signature, returns):
    """Show NumPy's type aliases by their names, not as what they stand for."""
    for long, short in _ALIASES.items():
        signature = signature and signature.replace(long, short)
        returns = returns and returns.replace(long, short)
    return signature, returns


def _shorten_property_types(app, doctree):
    """Do the same for properties, whose types autodoc does not offer to change."""
    for node in doctree.findall(addnodes.desc_annotation):
        for long, short in _ALIASES.items():
            shown = re.sub(r"~[\w.]*\.", "", long)
            if shown in node.astext():
                node[:] = [nodes.Text(node.astext().replace(shown, short))]


def _find_in_another_module(app, env, node, text):
    """Resolve a name that is written without its module, if only one object has this name."""
    python = env.domains.python_domain
    target = node.get("reftarget", "")
    found = [name for name in python.objects if name.endswith(f".{target}")]
    if node.get("refdomain") != "py" or len(found) != 1:
        return None
    page = node.get("refdoc", env.docname)
    return python.resolve_xref(env, page, app.builder, "obj", found[0], node, text)


def setup(app):
    """Connect the functions above; Sphinx calls this."""
    app.connect("doctree-read", _shorten_property_types)
    app.connect("missing-reference", _find_in_another_module)
    app.connect("source-read", _link_within_the_site)
    app.connect("autodoc-process-signature", _shorten_signature)


# HTML
html_theme = "pydata_sphinx_theme"
html_title = f"casmore {version}"
html_show_sourcelink = False
html_copy_source = False
# MathJax as one file from a package: nothing is loaded from the network
_mathjax = importlib.resources.files("mathjax") / "static/mathjax/es5/tex-svg.js"
html_static_path = ["_static", str(_mathjax)]
mathjax_path = "tex-svg.js"
html_css_files = ["site.css"]
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
}
html_sidebars = {"index": []}
