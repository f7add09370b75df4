"""Builds the extension with the C++ compiler alone: it needs neither nvcc nor CUDA's headers."""

import pathlib

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

SOURCES = sorted(path.as_posix() for path in pathlib.Path("normtune_kernels/csrc").glob("*.cpp"))

# Python's own flags may ask for debugging information, ten times the code.
setup(ext_modules=[CppExtension("normtune_kernels._C", SOURCES, extra_compile_args=["-O2", "-g0", "-fvisibility=hidden"], extra_link_args=["-s"], libraries=["dl"])],
      cmdclass={"build_ext": BuildExtension})
