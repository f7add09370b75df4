// A results.json whose records are not held: what tells them apart is, and the rest is read again where it is asked for.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "store/results.h"
#include "support/descriptor.h"

namespace normtune {

class RecordFile {
public:
    /// Of a results.json or a folder that holds one. A pipe is kept in a temporary file, which has no name. Throws InputError, SystemError.
    explicit RecordFile(const std::string& path);
    /// Its records have their problem without uses, candidate, outcome, whether they are cold, and of what did not pass why. A record
    /// takes about 1 KiB.
    Results& results() { return results_; }
    /// As it was read. On any thread. Throws InputError: the file is not what it was.
    Record whole(std::size_t index) const;

private:
    struct Extent {
        std::size_t offset, length;
    };
    std::string name_;
    Descriptor file_;
    Results results_;
    std::vector<Extent> extents_;
};

}  // namespace normtune
