// Any bytes as each of the YAML files: read, or refused with one line.
#include <cstdlib>
#include <string>
#include <string_view>

#include "judge/policy.h"
#include "problem/shapes_file.h"
#include "space/space.h"
#include "support/error.h"
#include "support/yaml_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace normtune;
    const std::string text(reinterpret_cast<const char*>(data), size);
    const auto refused_with_one_line = [](auto read) {
        try {
            read();
        } catch (const InputError& error) {
            if (std::string_view(error.what()).find('\n') != std::string_view::npos) {
                std::abort();
            }
        }
    };
    refused_with_one_line([&] { parse_yaml(text, "fuzzed"); });
    refused_with_one_line([&] { parse_shapes(text, "fuzzed"); });
    refused_with_one_line([&] { parse_policy(text, "fuzzed"); });
    refused_with_one_line([&] { parse_space(text, "fuzzed"); });
    return 0;
}
