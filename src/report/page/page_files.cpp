#include "report/page/page_files.h"

#include <stdexcept>

namespace normtune {

std::string_view page_file(std::string_view name) {
    for (const PageFile& file : page_files()) {
        if (file.path == name) {
            return file.text;
        }
    }
    throw std::logic_error("no such file of a page");
}

}  // namespace normtune
