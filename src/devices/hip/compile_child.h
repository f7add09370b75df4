// A compiler in a process of its own: files in, files out, and how it ended.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "devices/compile/compile_cache.h"

namespace normtune::hip {

/// A new folder below the system's temporary one; gone with this object. Throws SystemError.
class CompileFolder {
public:
    CompileFolder();
    ~CompileFolder();
    CompileFolder(const CompileFolder&) = delete;
    CompileFolder& operator=(const CompileFolder&) = delete;
    std::string path(std::string_view name) const;

private:
    std::string path_;
};

void write_whole_file(const std::string& path, std::string_view contents);  // throws SystemError

/// The source's text; of a user's file with a line ahead by which messages name it and count its lines: hiprtc passes over the name that it
/// is given.
std::string named_source(const SourceText& source);

/// Runs a compiler that leaves its code object in the folder's "code", and reads the figures of the kernels in it.
/// Throws DeviceError(compile_failed): the compiler's first error, or how its process ended.
CompiledCode compile_in_child(const std::vector<std::string>& words, const CompileFolder& folder, const CompileJob& job);

}  // namespace normtune::hip
