// The styles and the script of pages, which are inside the executable.
#pragma once

#include <span>
#include <string_view>

namespace normtune {

struct PageFile {
    std::string_view path;
    std::string_view text;
};

std::span<const PageFile> page_files();
/// "page.js".
std::string_view page_file(std::string_view name);

}  // namespace normtune
