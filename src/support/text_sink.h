// Text that goes out in pieces, so that a large report or file is never in memory as a whole.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace normtune {

class TextSink {
public:
    using Write = std::function<void(std::string_view)>;

    explicit TextSink(Write write) : write_(std::move(write)) {}

    /// Kept until it is worth a write.
    TextSink& operator+=(std::string_view text) {
        constexpr std::size_t block = std::size_t{1} << 20;
        pending_ += text;
        if (pending_.size() >= block) {
            flush();
        }
        return *this;
    }
    void flush() {
        if (!pending_.empty()) {
            write_(pending_);
            pending_.clear();
        }
    }

private:
    Write write_;
    std::string pending_;
};

/// Writes what `make` gives, as the other write_file_atomically (support/atomic_file.h) does with a whole text.
void write_file_atomically(const std::string& path, const std::function<void(TextSink&)>& make);

}  // namespace normtune
