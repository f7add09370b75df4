// Any bytes as a journal, a model's configuration, a study, and as the keys and the words that have a form of their own: read, or
// refused with one line; what is a key comes back as it was.
#include <cstdlib>
#include <string>
#include <string_view>

#include "problem/hf_config.h"
#include "problem/problem.h"
#include "space/configuration.h"
#include "space/shard.h"
#include "space/study.h"
#include "store/journal_lines.h"
#include "support/error.h"
#include "support/escape.h"

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
    const auto comes_back = [](const auto& key, const auto& again) {
        if (key != again) {
            std::abort();
        }
    };
    refused_with_one_line([&] { parse_journal(text, "fuzzed"); });
    refused_with_one_line([&] { parse_hf_config(text, "fuzzed", "name", {}); });
    refused_with_one_line([&] { parse_study(text, "fuzzed"); });
    refused_with_one_line([&] { parse_shard(text); });
    refused_with_one_line([&] {
        const std::string key = parse_problem_key(text).key();
        comes_back(key, parse_problem_key(key).key());
    });
    refused_with_one_line([&] {
        const std::string key = Configuration::parse(text).key();
        comes_back(key, Configuration::parse(key).key());
    });
    for (const std::string& shown : {for_terminal(text), for_markdown(text), for_xml(text), for_shell(text), for_workflow_command(text)}) {
        if (shown.find_first_of("\033\r\n\a") != std::string::npos) {
            std::abort();
        }
    }
    comes_back(for_terminal(for_terminal(text)), for_terminal(text));
    return 0;
}
