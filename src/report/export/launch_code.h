// Configurations as C++ and Python code, for launchers that are generated from results.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "space/backend_traits.h"
#include "space/configuration.h"

namespace normtune {

/// Lines of C++ (any standard from C++11 on): an enumeration for each named axis, and `struct Launch` with the axes in
/// their order. block_size is 0 for the whole row.
std::string cpp_launch_type(const std::vector<Axis>& axes);
/// "{4, 128, 1, 0, Residency::registers}".
std::string cpp_launch(const Configuration& configuration, const std::vector<Axis>& axes);

/// Lines of Python: `class Launch`, a frozen dataclass; named values are strings.
std::string python_launch_type(const std::vector<Axis>& axes);
/// "Launch(4, 128, 1, 0, 'registers')".
std::string python_launch(const Configuration& configuration, const std::vector<Axis>& axes);

/// A function `even_where_it_divides(launch, cols, element_bytes)`: the launch with `reduction` even where a row's
/// threads, and its blocks, divide the columns of contiguous rows. For axes with all that it reads.
std::string cpp_even_where_it_divides(const BackendTraits& traits, const std::vector<Axis>& axes);
std::string python_even_where_it_divides(const BackendTraits& traits, const std::vector<Axis>& axes);

/// "rms_norm/forward/bf16/llama" → "rms_norm_forward_bf16_llama".
std::string code_name(std::string_view operation);

/// A name from a file, as part of a comment or a docstring: what could end either, or be a workflow command to a runner that prints the
/// code, is '?'.
std::string harmless(std::string_view text);

/// Each line of the text after `prefix`.
std::string commented(std::string_view text, std::string_view prefix);

}  // namespace normtune
