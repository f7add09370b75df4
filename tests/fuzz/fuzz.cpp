// Any bytes to one of the readers, that which --reader=NAME names: read, or refused with one line; what was read is written, and read
// again, as it was. libFuzzer leaves words that begin with "--" alone.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "devices/replay/replay_script.h"
#include "judge/comparison.h"
#include "judge/policy.h"
#include "judge/summary.h"
#include "judge/thumb_rule.h"
#include "problem/hf_config.h"
#include "problem/problem.h"
#include "problem/shapes_file.h"
#include "run/worker/protocol.h"
#include "space/configuration.h"
#include "space/shard.h"
#include "space/space.h"
#include "space/study.h"
#include "store/journal_lines.h"
#include "store/result_rows.h"
#include "store/results.h"
#include "support/csv_stream.h"
#include "support/error.h"
#include "support/escape.h"
#include "support/expression.h"
#include "support/json_reader.h"
#include "support/trickle.h"
#include "support/utf8.h"
#include "trial/kernel_folder.h"
#include "trial/launch_manifest.h"

namespace {

using namespace normtune;

void need(bool holds) {
    if (!holds) {
        std::abort();
    }
}

template <typename Read>
void refused_with_one_line(Read read) {
    try {
        read();
    } catch (const InputError& error) {
        need(std::string_view(error.what()).find('\n') == std::string_view::npos);
    }
}

/// Records and fields, set apart by bytes that no text has, or the error.
std::string csv_by(std::string_view text, std::size_t step) {
    std::string out;
    try {
        testing::Trickle source(text, step);
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

/// The records do not depend on how many bytes a read hands out: the first byte says how many.
void csv(const std::string& text) {
    if (!text.empty()) {
        const std::string_view file = std::string_view(text).substr(1);
        need(csv_by(file, std::size_t{1} << 20U) == csv_by(file, static_cast<unsigned char>(text[0]) % 16U + 1U));
    }
}

/// What compare reads. A file does not differ from itself.
void rows(const std::string& text) {
    const ResultRows rows = parse_result_rows(text, "fuzzed");
    CompareSettings settings;
    settings.metric = text.size() % 3 == 0 ? Metric::memory : Metric::latency;
    settings.by = text.size() % 2 == 0 ? MatchBy::config : MatchBy::best;
    const Comparison comparison = compare(rows, rows, settings);
    need(comparison.count(Verdict::slower) + comparison.count(Verdict::faster) == 0);
    summarise(comparison);
}

void records(const std::string& text) {
    text.starts_with('{') ? parse_results_json(text, "fuzzed") : parse_results_csv(text, "fuzzed");
}

LaunchManifest manifest_of(const std::string& text) {
    const nlohmann::json document = parse_json(text, "fuzzed");
    return read_launch_manifest(JsonReader(document, "fuzzed: "));
}

/// A folder with launch.json and the code that the corpus names, for as long as the process lives.
struct Folder {
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "normtune-fuzz-XXXXXX").string();
        need(mkdtemp(name.data()) != nullptr);
        path = name;
        for (const char* code : {"kernel.cu", "norm.cu"}) {
            std::ofstream(path / code) << "//\n";
        }
    }
    ~Folder() { std::filesystem::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::filesystem::path path;
};

void launch(const std::string& text) {
    refused_with_one_line([&] {
        const std::string written = to_json(manifest_of(text)).dump();
        need(written == to_json(manifest_of(written)).dump());
    });
    static const Folder folder;
    std::ofstream(folder.path / "launch.json", std::ios::trunc) << text;
    KernelFolder::load(folder.path.string());
}

void protocol(const std::string& text) {
    refused_with_one_line([&] {
        const Numbered<Request> request = decode_request(text);
        const std::string written = encode(request.message, request.number);
        need(written == encode(decode_request(written).message, request.number));
    });
    const Numbered<Reply> reply = decode_reply(text);
    const std::string written = encode(reply.message, reply.number);
    need(written == encode(decode_reply(written).message, reply.number));
}

/// Words that have a form of their own.
void keys(const std::string& text) {
    refused_with_one_line([&] { parse_shard(text); });
    refused_with_one_line([&] {
        const std::string key = parse_problem_key(text).key();
        need(key == parse_problem_key(key).key());
    });
    refused_with_one_line([&] {
        const std::string key = Configuration::parse(text).key();
        need(key == Configuration::parse(key).key());
    });
    tunables_of(text);
    const std::string identity = Candidate::parse(text).identity();
    need(identity == Candidate::parse(identity).identity());
}

void expressions(const std::string& text) {
    refused_with_one_line([&] { ThumbRule::parse(text); });
    double rows = 8192;
    double cols = 4096;
    double x = -0.5;
    const Expression expression(text, std::vector<Expression::Variable>{{"rows", &rows}, {"cols", &cols}, {"x", &x}});
    expression.value();
    expression.reads();
}

/// Is there a line that a runner of GitHub takes as a command?
bool commands_a_runner(std::string_view report) {
    for (std::size_t i = report.find("::"); i != std::string_view::npos; i = report.find("::", i + 1)) {
        const std::size_t text = report.substr(0, i).find_last_not_of(' ');
        if (text == std::string_view::npos || report[text] == '\n') {
            return true;
        }
    }
    return report.find("##[") != std::string_view::npos;
}

/// What is printed.
void escapes(const std::string& text) {
    for (const std::string& shown : {for_terminal(text), for_markdown(text), markdown_code(text), for_xml(text), for_shell(text),
                                     for_workflow_command(text), for_workflow_command(text, true)}) {
        need(shown.find_first_of("\033\r\n\a") == std::string::npos);
    }
    need(for_markdown(text).find_first_of("<>`@[") == std::string::npos);
    need(for_xml(text).find_first_of("<>\"") == std::string::npos);
    need(for_terminal(for_terminal(text)) == for_terminal(text));
    need(for_html(text).find_first_of("<>\"'\033\n") == std::string::npos);
    const nlohmann::json value = to_utf8(text);
    const std::string json = for_json(value.dump());
    need(nlohmann::json::parse(json) == value && for_terminal(json) == json && !commands_a_runner(json));
    const std::string in_page = for_html_script(value.dump());
    need(nlohmann::json::parse(in_page).is_string() && in_page.find_first_of("<>&") == std::string::npos &&
         for_terminal(in_page) == in_page);
    const std::string report = report_for_terminal(text);
    need(!commands_a_runner(report) && report_for_terminal(report) == report);
}

struct Reader {
    std::string_view name;
    void (*read)(const std::string& text);
};

constexpr Reader readers[] = {
    {"csv", csv},
    {"rows", rows},
    {"records", records},
    {"journal", [](const std::string& text) { parse_journal(text, "fuzzed"); }},
    {"hf_config", [](const std::string& text) { parse_hf_config(text, "fuzzed", "name", {}); }},
    {"launch", launch},
    {"protocol", protocol},
    {"shapes", [](const std::string& text) { parse_shapes(text, "fuzzed"); }},
    {"spaces", [](const std::string& text) { parse_space(text, "fuzzed"); }},
    {"studies", [](const std::string& text) { parse_study(text, "fuzzed"); }},
    {"policies", [](const std::string& text) { parse_policy(text, "fuzzed"); }},
    {"replay", [](const std::string& text) { parse_replay_script(text, "fuzzed"); }},
    {"keys", keys},
    {"expressions", expressions},
    {"escapes", escapes},
};

const Reader* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
    for (int i = 1; i < *argc; ++i) {
        const std::string_view word = (*argv)[i];
        for (const Reader& reader : readers) {
            if (word.starts_with("--reader=") && word.substr(9) == reader.name) {
                chosen = &reader;
            }
        }
    }
    if (chosen == nullptr) {
        std::fputs("fuzz: say --reader=NAME, one of:", stderr);
        for (const Reader& reader : readers) {
            std::fprintf(stderr, " %s", reader.name.data());
        }
        std::fputs("\n", stderr);
        std::exit(2);
    }
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    refused_with_one_line([&] { chosen->read(text); });
    return 0;
}
