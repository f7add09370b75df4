// Any bytes as a journal, a model's configuration, a study, a launch manifest, a message of the worker protocol, and as the keys and
// the words that have a form of their own: read, or refused with one line; what was read is written, and read again, as it was.
#include <cstdlib>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "problem/hf_config.h"
#include "problem/problem.h"
#include "run/worker/protocol.h"
#include "space/configuration.h"
#include "space/shard.h"
#include "space/study.h"
#include "store/journal_lines.h"
#include "support/error.h"
#include "support/escape.h"
#include "support/json_reader.h"
#include "trial/launch_manifest.h"

namespace {

normtune::LaunchManifest manifest_of(const std::string& text) {
    const nlohmann::json document = normtune::parse_json(text, "fuzzed");
    return read_launch_manifest(normtune::JsonReader(document, "fuzzed: "));
}

}  // namespace

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
    refused_with_one_line([&] {
        const std::string identity = Candidate::parse(text).identity();
        comes_back(identity, Candidate::parse(identity).identity());
    });
    refused_with_one_line([&] {
        const std::string written = to_json(manifest_of(text)).dump();
        comes_back(written, to_json(manifest_of(written)).dump());
    });
    refused_with_one_line([&] {
        const Numbered<Request> request = decode_request(text);
        const std::string written = encode(request.message, request.number);
        comes_back(written, encode(decode_request(written).message, request.number));
    });
    refused_with_one_line([&] {
        const Numbered<Reply> reply = decode_reply(text);
        const std::string written = encode(reply.message, reply.number);
        comes_back(written, encode(decode_reply(written).message, reply.number));
    });
    for (const std::string& shown : {for_terminal(text), for_markdown(text), for_xml(text), for_shell(text), for_workflow_command(text)}) {
        if (shown.find_first_of("\033\r\n\a") != std::string::npos) {
            std::abort();
        }
    }
    comes_back(for_terminal(for_terminal(text)), for_terminal(text));
    return 0;
}
