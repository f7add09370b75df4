// Whole files, written beside their place, flushed to disk and renamed: a reader sees the old file or the new one.
#pragma once

#include <string>
#include <string_view>

namespace normtune {

/// Throws SystemError (path and the system's reason); the old file, if any, stays as it was and nothing is left beside
/// it.
void write_file_atomically(const std::string& path, std::string_view contents);

/// Reads a whole file. Throws InputError: missing, a directory, unreadable, or larger than `most_bytes`.
std::string read_file(const std::string& path, std::size_t most_bytes = std::size_t{1} << 30);

}  // namespace normtune
