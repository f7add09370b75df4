// A kernel's source in its folder: the options of a compiler that a manifest may give, and what the source includes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace normtune {

/// *.cu and *.hip are compiled where they run.
bool is_source_name(std::string_view file);
/// A file's name that says what its code is: a source, *.cubin or *.hsaco.
bool is_code_name(std::string_view file);

/// Why a manifest may not give a compiler this option; empty: it may. Taken are -DNAME[=VALUE], -IFOLDER in the manifest's folder,
/// -std=c++NN, and options that say how fast, how exact and with how many registers code is: docs/candidates.md lists them.
std::string option_objection(std::string_view option);
/// Those of the options that a compiler gets: folders of includes are read here.
std::vector<std::string> compiler_options(const std::vector<std::string>& options);

/// Why that is no file in a canonical folder; empty: it is one, or there is none.
std::string folder_objection(const std::string& folder, const std::string& file);
/// Throws InputError: it lies elsewhere, or cannot be read.
std::string read_in_folder(const std::string& folder, const std::string& file);
/// The source with what it includes in quotes in its place, so that its text is all that is compiled but for the compiler's own headers.
/// Throws InputError: a file is not there, or not in the folder.
std::string read_source(const std::string& folder, const std::string& file, const std::vector<std::string>& options);

}  // namespace normtune
