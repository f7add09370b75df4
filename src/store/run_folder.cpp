#include "store/run_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <random>
#include <string_view>
#include <vector>

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

/// Makes a new folder "BEGIN1f3aEND"; returns 0, or the system's error. It fails on anything that is there: no other process has it, on
/// whatever machine or in whatever container that runs.
int create_at_random(const std::string& begin, std::string_view end, std::string& path) {
    std::random_device random;
    for (int attempt = 0; attempt < 100; ++attempt) {
        path = fmt::format("{}{:04x}{}", begin, random() & 0xffffu, end);
        if (::mkdir(path.c_str(), 0777) == 0) {
            return 0;
        }
        if (errno != EEXIST) {
            return errno;
        }
    }
    return EEXIST;
}

std::string create_default() {
    std::string stamp = utc_timestamp();
    std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
    create_parents("results", "results");
    std::string path;
    if (const int error = create_at_random(fmt::format("results/run-{}-", stamp), "", path); error != 0) {
        fail_to_create(path, error);
    }
    return path;
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

[[noreturn]] void fail_to_fill(const std::string& folder, int error) {
    throw SystemError(fmt::format("{}: the folder cannot be filled: {}", folder, system_reason(error)));
}

/// 0, or the system's error: EEXIST where something is there.
int move_to_new(const fs::path& from, const fs::path& to) {
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) {
        return 0;
    }
    if (errno != EINVAL && errno != ENOSYS) {
        return errno;
    }
    std::error_code ignored;  // a file system that does not know how
    if (fs::exists(fs::symlink_status(to, ignored))) {
        return EEXIST;
    }
    return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

/// All that is in a folder into another one that holds nothing else, or nothing of it. In the order of names: results.json and launch.json
/// come last.
void move_entries(const fs::path& from, const fs::path& to) {
    std::vector<fs::path> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(from)) {
        names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    int error = is_empty(to.string()) ? 0 : ENOTEMPTY;
    std::size_t moved = 0;
    while (error == 0 && moved < names.size()) {
        error = move_to_new(from / names[moved], to / names[moved]);
        moved += error == 0 ? 1 : 0;
    }
    if (error == 0) {
        error = sync_folder(to.string());
    }
    if (error != 0) {
        std::error_code ignored;
        while (moved > 0) {
            fs::remove_all(to / names[--moved], ignored);
        }
        fail_to_fill(to.string(), error);
    }
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
        throw InputError(fmt::format("{}: is not empty; --out needs a new or empty folder", out));
    }
    check_writable(out);
    return out;
}

void fill_folder(const std::string& folder, const std::function<void(const std::string&)>& write) {
    std::string filled;
    if (const int error = create_at_random(folder + "/" + std::string(temporary_prefix), ".tmp", filled); error != 0) {
        fail_to_fill(folder, error);
    }
    std::error_code ignored;
    try {
        write(filled);
        move_entries(filled, folder);
        fs::remove(filled, ignored);
    } catch (const SystemError& failure) {
        fs::remove_all(filled, ignored);
        std::string why = failure.what();  // names the file as it was to be
        if (const std::size_t place = why.find(filled); place != std::string::npos) {
            why.replace(place, filled.size(), folder);
        }
        throw SystemError(why);
    } catch (...) {
        fs::remove_all(filled, ignored);
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
