#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/table_options.h"
#include "problem/hf_config.h"
#include "store/token_counts.h"
#include "support/atomic_file.h"
#include "support/config_file.h"
#include "support/shipped.h"

namespace normtune::cli {
namespace {

/// One line a shipped file: its name and its models.
Section shipped_section() {
    Section section{"", Table("name|models"), ""};
    for (const std::string& name : shipped_names("shapes")) {
        std::string models;
        for (const Model& model : parse_shapes(find_shipped("shapes", name)->text, name).models) {
            models += models.empty() ? model.name : ", " + model.name;
        }
        section.table.add({name, models});
    }
    return section;
}

class ShapesCommand : public Command {
public:
    void declare(OptionSet& options) override {
        options.one("NAME", shipped_file("shapes", name_), "Print this shapes file; without it, list the shipped ones");
        options.one("--from-hf", file(config_), "Make shapes of a Hugging Face model configuration (config.json)");
        options.list("--tokens", whole_number(1, most_tokens, tokens_), "Numbers of tokens for --from-hf (default: 1,128,2048,8192)");
        options.one("--name", model_name(), "Of the model of --from-hf (default: as the file says, or else its folder)");
        options.one(
            "--from-log", file(log_),
            "Count the tokens of a server's batches: a CSV, or JSON lines, of tokens, or batch_size and seq_len; for fit --traffic");
        options.many("--column", column(), "What a column of --from-log is called: tokens|batch_size|seq_len|count=NAME; may be repeated");
        options.one("-o,--output", file(output_), "Write what --from-hf or --from-log gives to this file instead of stdout (-)");
        table_.declare(options, {}, "Of the list");
        options.example("normtune shapes --from-hf config.json --tokens 1,128,8192 --name my-8b -o my_model.yaml");
        options.example("normtune shapes --from-log requests.jsonl --column tokens=num_batched_tokens -o tokens.csv");
    }

    ExitCode run(const std::vector<std::string>&) override {
        if (table_.given() && (!config_.empty() || !log_.empty() || !name_.empty())) {
            throw InputError("--format, --sort and --top are for the list of shipped shapes; leave them out");
        }
        if (columns_given_ && log_.empty()) {
            throw InputError("--column says what the columns of a log are called; add --from-log FILE");
        }
        if (!log_.empty()) {
            return from_log();
        }
        if (!config_.empty()) {
            return from_hf();
        }
        if (!output_.empty() || !tokens_.empty() || !model_.empty()) {
            throw InputError("--output, --tokens and --name go with --from-hf config.json (--output with --from-log, too)");
        }
        if (name_.empty()) {
            table_.show({shipped_section()});
            return ExitCode::good;
        }
        const ConfigFile shapes = load_config("shapes", name_);
        static_cast<void>(parse_shapes(shapes.text, shapes.file));  // what is printed can be used
        print_data(shapes.text);
        return ExitCode::good;
    }

private:
    Value model_name() {
        return {"NAME", {}, Completion::none, [this](const std::string& word) {
                    if (!is_model_name(word)) {
                        throw InputError(fmt::format("{} will not do; give {}", quoted_for_message(word), model_name_rule));
                    }
                    model_ = word;
                }};
    }

    Value column() {
        return {"ROLE=NAME", {}, Completion::none, [this](const std::string& word) {
                    columns_.set(word);
                    columns_given_ = true;
                }};
    }

    ExitCode from_log() const {
        if (!name_.empty() || !config_.empty() || !tokens_.empty() || !model_.empty()) {
            throw InputError("--from-log counts tokens and makes no shapes; leave out NAME, --from-hf, --tokens and --name");
        }
        const TokenCounts counts = read_token_log(log_, columns_);
        if (counts.empty > 0) {
            complain(fmt::format("{}: {} without a token left out: they launch nothing", log_,
                                 counts.empty == 1 ? "1 batch" : fmt::format("{} batches", counts.empty)));
        }
        write_output(output_, [&](TextSink& out) { out += token_counts_csv(counts); });
        return ExitCode::good;
    }

    ExitCode from_hf() const {
        if (!name_.empty()) {
            throw InputError(fmt::format("unexpected argument '{}': --from-hf makes shapes of its own", name_));
        }
        const std::vector<std::int64_t> usual{1, 128, 2048, 8192};
        std::string assumed;
        ShapesFile shapes = shapes_from_hf(config_, tokens_.empty() ? usual : tokens_, &assumed);
        if (!assumed.empty()) {
            complain(assumed);
        }
        if (!model_.empty()) {
            shapes.name = model_;
            shapes.models.front().name = model_;
        }
        write_output(output_, [&](TextSink& out) { out += shapes_to_yaml(shapes); });
        return ExitCode::good;
    }

    std::string name_;
    TableOptions table_;
    std::string config_;
    std::string log_;
    LogColumns columns_;
    bool columns_given_ = false;
    std::vector<std::int64_t> tokens_;
    std::string model_;
    std::string output_;
};

}  // namespace

std::unique_ptr<Command> make_shapes_command() {
    return std::make_unique<ShapesCommand>();
}

}  // namespace normtune::cli
