// Whole files, written beside their place, flushed to disk and renamed: a reader sees the old file or the new one.
#pragma once

#include <string>
#include <string_view>

namespace normtune {

/// The one way to write a file that a user named. Links are followed, so that a link stays one; a regular file keeps its permissions.
/// What is no regular file (a device, a pipe), and where stdout or stderr go, is written through. Throws SystemError (path and the
/// system's reason); the old file, if any, stays as it was and nothing is left beside it.
void write_file_atomically(const std::string& path, std::string_view contents);

/// Reads a whole file. Throws InputError: missing, a directory, unreadable, or larger than `most_bytes`.
std::string read_file(const std::string& path, std::size_t most_bytes = std::size_t{1} << 30);

/// Names of unfinished files begin with this and end in ".tmp"; a process that was killed may leave one.
inline constexpr std::string_view temporary_prefix = ".normtune-";
bool is_temporary_name(std::string_view file_name);
/// Removes what killed processes left in a folder. Only for whoever has the folder to himself.
void remove_stale_temporaries(const std::string& folder);

}  // namespace normtune
