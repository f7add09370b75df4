#include "store/record_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "store/results_stream.h"
#include "support/byte_source.h"
#include "support/error.h"

namespace normtune {
namespace {

/// Keeps what it hands out.
class Kept : public ByteSource {
public:
    Kept(ByteSource& source, int descriptor) : source_(source), descriptor_(descriptor) {}
    std::size_t read(char* into, std::size_t most) override {
        const std::size_t got = source_.read(into, most);
        if (const int error = write_all(descriptor_, {into, got}); error != 0) {
            throw SystemError(fmt::format("a pipe cannot be kept in a temporary file: {}", system_reason(error)));
        }
        return got;
    }

private:
    ByteSource& source_;
    int descriptor_;
};

bool is_regular(int descriptor) {
    struct stat status {};
    return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

Descriptor temporary_file() {
    std::FILE* file = std::tmpfile();
    Descriptor out(file != nullptr ? ::fcntl(::fileno(file), F_DUPFD_CLOEXEC, 0) : -1);
    if (file != nullptr) {
        std::fclose(file);
    }
    if (!out.valid()) {
        throw SystemError(fmt::format("no temporary file can be made: {}", system_reason(errno)));
    }
    return out;
}

/// What tells a record apart, of its own memory but for why it failed.
Record told_apart(const Record& whole) {
    Record out;
    out.problem = whole.problem;
    out.problem.uses = {};
    out.candidate = whole.candidate;
    out.outcome = whole.outcome;
    if (whole.measurement) {
        out.measurement.emplace().cold = whole.measurement->cold;
    }
    if (whole.outcome != Outcome::passed) {
        out.reason = whole.reason;
        out.repeat = whole.repeat;
    }
    return out;
}

}  // namespace

RecordFile::RecordFile(const std::string& path) : name_(results_json_of(path)) {
    std::vector<Record> records;
    const auto take = [&](const Record& record, const ListElement& element) {
        records.push_back(told_apart(record));
        extents_.push_back({element.offset, element.text.size()});
    };
    const std::unique_ptr<ByteSource> source = open_source(name_);
    if (Descriptor file = open_for_reading(name_); is_regular(file.get())) {
        file_ = std::move(file);
        results_ = stream_results_json(*source, name_, take);
    } else {
        file_ = temporary_file();
        Kept kept(*source, file_.get());
        results_ = stream_results_json(kept, name_, take);
    }
    results_.records = std::move(records);
}

Record RecordFile::whole(std::size_t index) const {
    const Extent extent = extents_[index];
    std::string text(extent.length, '\0');
    for (std::size_t at = 0; at < text.size();) {
        const ssize_t got = ::pread(file_.get(), text.data() + at, text.size() - at, static_cast<off_t>(extent.offset + at));
        if (got <= 0 && errno != EINTR) {
            throw InputError(fmt::format("{}: was cut while it was read", name_));
        }
        at += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    }
    return read_record({text, index}, name_, RecordParts::all);
}

}  // namespace normtune
