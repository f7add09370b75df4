// A vendor's run-time compiler: NVRTC and hiprtc are one API under two prefixes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "support/dynamic_library.h"

namespace normtune::gpu {

using Program = struct ProgramOpaque*;

struct Rtc {
    int (*version)(int* major, int* minor);
    int (*create)(Program*, const char* source, const char* name, int headers, const char* const* header_sources,
                  const char* const* header_names);
    int (*destroy)(Program*);
    int (*compile)(Program, int count, const char* const* options);
    int (*log_size)(Program, std::size_t*);
    int (*log)(Program, char*);
    const char* (*error_string)(int);
    int (*code_size)(Program, std::size_t*);
    int (*code)(Program, char*);
};

/// `prefix`: "nvrtc"; `code`: what its machine code is called there, "CUBIN". The first function that the library lacks, or "".
std::string load_rtc(const DynamicLibrary& library, const std::string& prefix, const std::string& code, Rtc& rtc);

struct RtcResult {
    std::string error;  // the library's name of what went wrong; empty: nothing
    std::string log;
    std::vector<std::byte> code;
};

/// `file`: what the log calls the source.
RtcResult compile(const Rtc& rtc, const std::string& source, const char* file, const std::vector<std::string>& options);

/// A compiler's first line with an error, or else its first with anything at all; at most 300 characters.
std::string first_error(const std::string& log);

}  // namespace normtune::gpu
