#include "store/run_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <random>

#include <fmt/format.h>

#include "support/atomic_file.h"
#include "support/clock.h"
#include "support/descriptor.h"
#include "support/error.h"
#include "support/escape.h"

namespace normtune {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_to_create(const std::string& path, int error) {
    throw SystemError(fmt::format("{}: the folder cannot be created: {}", path, system_reason(error)));
}

void create_parents(const fs::path& folder, const std::string& for_path) {
    std::error_code error;
    if (!folder.empty() && !fs::create_directories(folder, error) && error) {
        fail_to_create(for_path, error.value());
    }
}

void check_writable(const std::string& folder) {
    if (::access(folder.c_str(), W_OK | X_OK) != 0) {
        throw SystemError(fmt::format("{}: the folder cannot be written to: {}", folder, system_reason(errno)));
    }
}

std::string create_default() {
    std::string stamp = utc_timestamp();
    std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
    std::random_device random;
    create_parents("results", "results");
    for (int attempt = 0; attempt < 100; ++attempt) {
        std::string path = fmt::format("results/run-{}-{:04x}", stamp, random() & 0xffffu);
        if (::mkdir(path.c_str(), 0777) == 0) {  // fails on anything that is there, so nothing is ever written over
            return path;
        }
        if (errno != EEXIST) {
            fail_to_create(path, errno);
        }
    }
    fail_to_create("results/run-" + stamp, EEXIST);
}

/// Leftovers of a run that was killed before its journal began do not count.
bool is_empty(const std::string& folder) {
    std::error_code error;
    fs::directory_iterator entries(folder, error);
    if (error) {
        throw SystemError(fmt::format("{}: the folder cannot be read: {}", folder, system_reason(error.value())));
    }
    return std::all_of(fs::begin(entries), fs::end(entries),
                       [](const fs::directory_entry& entry) { return is_temporary_name(entry.path().filename().string()); });
}

}  // namespace

std::string create_run_folder(const std::string& out) {
    if (out.empty()) {
        return create_default();
    }
    fs::path folder = out;
    if (!folder.has_filename()) {
        folder = folder.parent_path();  // "runs/a/": the last part is the folder itself
    }
    create_parents(folder.parent_path(), out);
    if (::mkdir(folder.c_str(), 0777) == 0) {
        return out;
    }
    if (errno != EEXIST) {
        fail_to_create(out, errno);
    }
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored)) {
        throw InputError(fmt::format("{}: is a file where --out needs a folder", out));
    }
    if (fs::exists(folder / "journal.jsonl", ignored)) {
        throw InputError(
            fmt::format("{}: holds a run already; go on with it by --resume {}, or give --out a new folder", out, for_shell(out)));
    }
    if (!is_empty(out)) {
        throw InputError(fmt::format("{}: is not empty; --out needs a new or empty folder (--resume goes on with a run)", out));
    }
    check_writable(out);
    return out;
}

void fill_folder(const std::string& folder, const std::function<void(const std::string&)>& write) {
    const fs::path named = fs::canonical(folder);  // what a link leads to
    const std::string beside = (named.parent_path() / fmt::format("{}{}.tmp", temporary_prefix, ::getpid())).string();
    std::error_code error;
    fs::remove_all(beside, error);  // left by a killed process of the same id
    if (::mkdir(beside.c_str(), 0777) != 0) {
        throw SystemError(fmt::format("{}: the folder cannot be filled: {}", folder, system_reason(errno)));
    }
    try {
        write(beside);
        if (::rename(beside.c_str(), named.c_str()) != 0) {  // onto an empty folder it takes that one's place
            throw SystemError(fmt::format("{}: the folder cannot be filled: {}", folder, system_reason(errno)));
        }
    } catch (const SystemError& failure) {
        fs::remove_all(beside, error);
        std::string why = failure.what();  // names the file as it was to be
        if (const std::size_t place = why.find(beside); place != std::string::npos) {
            why.replace(place, beside.size(), folder);
        }
        throw SystemError(why);
    } catch (...) {
        fs::remove_all(beside, error);
        throw;
    }
}

void fill_result_folder(const std::string& folder, const Results& results) {
    fill_folder(folder, [&](const std::string& place) { write_result_files(results, place); });
}

void require_results(const std::string& path) {
    std::error_code ignored;
    const fs::path given(path);
    if (given.filename() == "journal.jsonl") {
        throw InputError(fmt::format("{}: is the journal of a run; give the run's folder, or its results.json", path));
    }
    if (fs::exists(given / "journal.jsonl", ignored) && !fs::exists(given / "results.json", ignored) &&
        !fs::exists(given / "results.csv", ignored)) {
        throw InputError(
            fmt::format("{}: its sweep has not ended; if it was killed, go on with it by normtune sweep "
                        "--resume {}",
                        path, for_shell(path)));
    }
}

NewRunFolder::NewRunFolder(const std::string& out) {
    std::error_code error;
    kept_ = std::filesystem::absolute(out.empty() ? "results" : out, error);
    while (!std::filesystem::exists(kept_, error) && kept_.has_relative_path()) {
        kept_ = kept_.parent_path();
    }
    path_ = create_run_folder(out);
    folder_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

NewRunFolder::~NewRunFolder() {
    struct stat made_here {};
    struct stat there {};
    if (::fstat(folder_.get(), &made_here) != 0 || ::stat(path_.c_str(), &there) != 0 || made_here.st_dev != there.st_dev ||
        made_here.st_ino != there.st_ino) {
        return;
    }
    std::error_code stop;
    for (std::filesystem::path made = std::filesystem::absolute(path_, stop);
         !stop && made != kept_ && std::filesystem::remove(made, stop);) {
        made = made.parent_path();
    }
}

}  // namespace normtune
