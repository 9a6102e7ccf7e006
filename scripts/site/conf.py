# Settings of Sphinx for the documentation as pages; scripts/make-site uses them.
import os

project = "galpha"
author = ""
copyright = ""
extensions = ["myst_parser"]
myst_enable_extensions = ["html_image"]
myst_heading_anchors = 4
source_suffix = {".md": "markdown"}
root_doc = "index"
html_theme = "furo"
html_title = "galpha"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_extra_path = [os.environ["SITE_EXTRA"]]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False
pygments_style = "default"
# Links that pages have to sources of the tree are made plain text by prepare.py; all others must lead somewhere.
suppress_warnings = ["misc.highlighting_failure"]
