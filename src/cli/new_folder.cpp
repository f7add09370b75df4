#include "cli/new_folder.h"

#include <system_error>

#include "store/run_folder.h"

namespace normtune::cli {

namespace fs = std::filesystem;

NewFolder::NewFolder(const std::string& out) {
    std::error_code error;
    kept_ = fs::absolute(out.empty() ? "results" : out, error);
    while (!fs::exists(kept_, error) && kept_.has_relative_path()) {
        kept_ = kept_.parent_path();
    }
    path_ = create_run_folder(out);
}

NewFolder::~NewFolder() {
    std::error_code stop;
    for (fs::path made = fs::absolute(path_, stop); !stop && made != kept_ && fs::remove(made, stop);) {
        made = made.parent_path();
    }
}

}  // namespace normtune::cli
