// Any bytes as CSV: the records do not depend on how many bytes a read hands out.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "support/csv_stream.h"
#include "support/error.h"

namespace {

using namespace normtune;

class Trickle : public ByteSource {
public:
    Trickle(std::string_view text, std::size_t step) : text_(text), step_(step) {}
    std::size_t read(char* into, std::size_t most) override { return text_.read(into, std::min(most, step_)); }

private:
    MemorySource text_;
    std::size_t step_;
};

/// Records and fields, set apart by bytes that no text has, or the error.
std::string read_all(std::string_view text, std::size_t step) {
    std::string out;
    try {
        Trickle source(text, step);
        CsvReader reader(source, "fuzzed");
        while (reader.next()) {
            out += std::to_string(reader.line()) + '\xfe';
            for (const std::string_view field : reader.fields()) {
                out.append(field) += '\xff';
            }
        }
    } catch (const InputError& error) {
        out += error.what();
    }
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    if (read_all(text, std::size_t{1} << 20U) != read_all(text, data[0] % 16U + 1U)) {
        std::abort();
    }
    return 0;
}
