# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
"""Where setuptools builds, which pyproject.toml cannot say: not here, it would leave build/ and weft.egg-info/."""
import atexit
import shutil
import tempfile

from setuptools import setup

scratch = tempfile.mkdtemp(prefix="weft_build_")
atexit.register(shutil.rmtree, scratch, ignore_errors=True)
setup(options={"build": {"build_base": scratch}, "egg_info": {"egg_base": scratch}})
