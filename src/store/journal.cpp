#include "store/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

#include "store/journal_lines.h"
#include "support/atomic_file.h"
#include "support/descriptor.h"
#include "support/error.h"

namespace normtune {
namespace {

constexpr std::size_t most_journal_bytes = std::size_t{1} << 32;

std::string journal_path(const std::string& folder) {
    return (std::filesystem::path(folder) / "journal.jsonl").string();
}

[[noreturn]] void fail(const std::string& path, std::string_view what, int error) {
    throw SystemError(fmt::format("{}: {}: {}", path, what, system_reason(error)));
}

/// The lock belongs to the open file and goes with the process, however it ends. It is taken on the file itself, so
/// that it holds wherever the folder is reached from.
void lock(const Descriptor& file, const std::string& path) {
    while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) {
            throw InputError(fmt::format("{}: another normtune is writing to it; wait until that has ended", path));
        }
        if (errno != EINTR) {
            return;  // a file system without locks: nothing to hold on to
        }
    }
}

}  // namespace

struct Journal::State {
    std::string path;
    Descriptor file;
    std::uint64_t size = 0;  // bytes of complete lines
    bool torn = false;       // ends in a part of a line that could not be taken back

    /// Whoever deleted the folder, or began another run in it, shall not have this one's files in it.
    void require_in_place() const {
        struct stat ours {};
        struct stat named {};
        if (::fstat(file.get(), &ours) == 0 &&
            (::stat(path.c_str(), &named) != 0 || named.st_dev != ours.st_dev || named.st_ino != ours.st_ino)) {
            throw SystemError(fmt::format("{}: was deleted or replaced while this run wrote it; nothing more is written", path));
        }
    }

    /// One write(2) of a whole line at the end of the file: nothing is buffered in this process, so what was appended
    /// survives its death. It is not synced line by line: only a power cut can take it back, and a resumed run then
    /// repeats those trials; a sync would cost each trial milliseconds of disk traffic beside the measuring.
    void append(const std::string& line) {
        if (torn) {
            throw SystemError(fmt::format("{}: cannot be written after an earlier failure", path));
        }
        if (const int error = write_all(file.get(), line); error != 0) {
            torn = ::ftruncate(file.get(), static_cast<off_t>(size)) != 0;
            fail(path, "cannot be written", error);
        }
        size += line.size();
    }
};

Journal::Journal(std::unique_ptr<State> state) : state_(std::move(state)) {}
Journal::Journal(Journal&&) noexcept = default;

Journal::~Journal() = default;

Journal Journal::create(const std::string& folder, const JournalHeader& header) {
    auto state = std::make_unique<State>();
    state->path = journal_path(folder);
    // The header is written under another name and linked into place: a journal has a whole first line from the moment
    // that it exists, and of two runs started into one folder one fails.
    const std::string beginning = (std::filesystem::path(folder) / fmt::format("{}{}.tmp", temporary_prefix, ::getpid())).string();
    ::unlink(beginning.c_str());  // left by a killed process of the same id
    state->file = Descriptor(::open(beginning.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (!state->file.valid()) {
        fail(state->path, "cannot be created", errno);
    }
    try {
        lock(state->file, state->path);
        state->append(journal_line(header));
        if (::fdatasync(state->file.get()) != 0) {
            fail(state->path, "cannot be written", errno);
        }
        if (::link(beginning.c_str(), state->path.c_str()) != 0) {
            const bool no_links = errno == EPERM || errno == ENOTSUP;
            if (!no_links || ::access(state->path.c_str(), F_OK) == 0 || ::rename(beginning.c_str(), state->path.c_str()) != 0) {
                fail(state->path, "cannot be created", no_links ? EEXIST : errno);
            }
        }
    } catch (...) {
        ::unlink(beginning.c_str());
        throw;
    }
    ::unlink(beginning.c_str());
    if (const int error = sync_folder(folder); error != 0) {
        fail(state->path, "cannot be created", error);
    }
    return Journal(std::move(state));
}

Journal Journal::resume(const std::string& folder, JournalContents& contents) {
    auto state = std::make_unique<State>();
    state->path = journal_path(folder);
    state->file = Descriptor(::open(state->path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    if (!state->file.valid()) {
        const int error = errno;
        read_journal(folder);  // says what is wrong where it cannot be read either
        fail(state->path, "cannot be written", error);
    }
    lock(state->file, state->path);
    ParsedJournal parsed = parse_journal(read_file(state->path, most_journal_bytes), state->path);
    if (::ftruncate(state->file.get(), static_cast<off_t>(parsed.complete_bytes)) != 0) {
        fail(state->path, "cannot be written", errno);
    }
    state->size = parsed.complete_bytes;
    contents = std::move(parsed.contents);
    remove_stale_temporaries(folder);
    return Journal(std::move(state));
}

void Journal::require_in_place() const {
    state_->require_in_place();
}

void Journal::append(const Record& record) {
    require_in_place();
    state_->append(journal_line(record));
}
void Journal::append(const FinalEntry& entry) {
    require_in_place();
    state_->append(journal_line(entry));
}
void Journal::append(const RepetitionEntry& entry) {
    require_in_place();
    state_->append(journal_line(entry));
}
void Journal::append(const VoidEntry& entry) {
    require_in_place();
    state_->append(journal_line(entry));
}

JournalContents read_journal(const std::string& folder) {
    const std::string path = journal_path(folder);
    struct stat status {};
    if (::stat(folder.c_str(), &status) != 0) {
        throw InputError(errno == ENOENT ? fmt::format("{}: there is no such folder", folder)
                                         : fmt::format("{}: cannot be read: {}", folder, system_reason(errno)));
    }
    if (!S_ISDIR(status.st_mode)) {
        throw InputError(fmt::format("{}: is a file where the folder of a run is needed", folder));
    }
    if (::stat(path.c_str(), &status) != 0) {
        throw InputError(errno == ENOENT ? fmt::format("{}: holds no journal.jsonl: it is not the folder of a run", folder)
                                         : fmt::format("{}: cannot be read: {}", folder, system_reason(errno)));
    }
    return parse_journal(read_file(path, most_journal_bytes), path).contents;
}

}  // namespace normtune
