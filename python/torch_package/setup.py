"""Builds the extension with the C++ compiler alone: it needs neither nvcc nor CUDA's headers."""

import hashlib
import os
import pathlib

import torch
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

SOURCES = sorted(path.as_posix() for path in pathlib.Path("normtune_kernels/csrc").glob("*.cpp"))


class Build(BuildExtension):
    """Leaves beside the extension for which PyTorch it was compiled, which extension.py reads."""

    def finalize_options(self):
        super().finalize_options()
        # What an earlier build left may be another PyTorch's: compiled anew, and objects kept apart.
        self.force = True
        self.build_temp = os.path.join(self.build_temp, hashlib.sha256(torch.__version__.encode()).hexdigest()[:12])

    def run(self):
        super().run()
        place = pathlib.Path(self.get_ext_fullpath("normtune_kernels._C")).with_name("compiled_for.txt")
        place.write_text(torch.__version__ + "\n")


# Python's own flags may ask for debugging information, ten times the code.
setup(ext_modules=[CppExtension("normtune_kernels._C", SOURCES, extra_compile_args=["-O2", "-g0", "-fvisibility=hidden"], extra_link_args=["-s"], libraries=["dl"])],
      cmdclass={"build_ext": Build})
