"""Builds the extension with the C++ compiler alone: it needs neither nvcc nor CUDA's headers."""

import pathlib

import torch
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

SOURCES = sorted(path.as_posix() for path in pathlib.Path("normtune_kernels/csrc").glob("*.cpp"))


class Build(BuildExtension):
    """Leaves beside the extension for which PyTorch it was compiled, which extension.py reads."""

    def run(self):
        super().run()
        place = pathlib.Path(self.get_ext_fullpath("normtune_kernels._C")).with_name("compiled_for.txt")
        place.write_text(torch.__version__ + "\n")


# Python's own flags may ask for debugging information, ten times the code.
setup(ext_modules=[CppExtension("normtune_kernels._C", SOURCES, extra_compile_args=["-O2", "-g0", "-fvisibility=hidden"], extra_link_args=["-s"], libraries=["dl"])],
      cmdclass={"build_ext": Build})
