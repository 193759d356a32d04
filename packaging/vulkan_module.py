"""Builds ggml's Vulkan backend as a module beside the installed llama.cpp: `python packaging/vulkan_module.py`.

With Mesa's software device it offloads layers for real on a machine without a graphics card. Standard library only.
"""

import sys

if not (3, 11) <= sys.version_info[:2] < (3, 14):
    sys.exit(f"This needs Python 3.11, 3.12 or 3.13, and this is {sys.version_info[0]}.{sys.version_info[1]}.")

from setup_steps.vulkan_module import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
