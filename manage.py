#!/usr/bin/env python
"""Django's command line for the bundled site, with its development settings unless others are named."""

import os
import sys

from django.core.management import execute_from_command_line


def main() -> None:
    """Run the management command of the command line."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings.dev")
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
