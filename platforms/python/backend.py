# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
"""setuptools as build backend, that of the host where it has one.

pip builds in an environment of its own and fills it from the network. Here the host's setuptools and wheel serve, so
that `pip install ./platforms/python` works without a network on Debian; where they are missing, pip is asked to fetch
them.
"""
from __future__ import annotations

import site
import sys
from importlib.util import find_spec
from typing import List

_NEEDED = {"setuptools": "setuptools>=61", "wheel": "wheel"}

# pip hides these folders from a build. They go to the end: what pip has fetched comes first.
sys.path += [folder for folder in site.getsitepackages() if folder not in sys.path]


def get_requires_for_build_wheel(config_settings=None) -> List[str]:
    return [] if all(find_spec(name) for name in _NEEDED) else list(_NEEDED.values())


get_requires_for_build_editable = get_requires_for_build_wheel


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None) -> str:
    from setuptools import build_meta

    return build_meta.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None) -> str:
    from setuptools import build_meta

    return build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_editable(wheel_directory, config_settings=None, metadata_directory=None) -> str:
    from setuptools import build_meta

    return build_meta.build_editable(wheel_directory, config_settings, metadata_directory)
