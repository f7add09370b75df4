#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "report/best_export.h"
#include "report/winners.h"
#include "store/results.h"

namespace normtune::cli {
namespace {

class BestCommand : public Command {
public:
    void declare(OptionSet& options) override {
        options.many("RESULTS", file(files_), "results.json files, or run folders that hold one");
        options.one(
            "--format", word_of({"table", "json", "cpp", "triton"}, format_),
            "json: schemas/winners.schema.json; cpp: a header that\ndispatches by op, mode, dtype, casting, rows and "
            "columns;\ntriton: a Python module for Triton launchers\n(default: table)");
        options.example("normtune best results/run-20261120-120000 --format json");
        options.example("normtune best qwen3.json llama3.json --format cpp > best_launch.h");
    }

    ExitCode run(const std::vector<std::string>&) override {
        if (files_.empty()) {
            throw InputError("no results are named; give results.json files or run folders");
        }
        std::vector<Results> all;
        for (const std::string& file : files_) {
            all.push_back(read_results_json(file));
        }
        print(format_ == "json"     ? winners_json(all)
              : format_ == "cpp"    ? winners_cpp(exported_winners(all))
              : format_ == "triton" ? winners_triton(exported_winners(all))
                                    : tables(all));
        return ExitCode::good;
    }

private:
    std::string tables(const std::vector<Results>& all) const {
        std::string out;
        const Style style = style_of(stdout);
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all.size() > 1) {
                out += fmt::format("{}{}\n", i == 0 ? "" : "\n", style.bold(files_[i]));
            }
            out += winners_table(find_winners(all[i]), terminal_width(stdout), style.color);
        }
        return out;
    }

    std::vector<std::string> files_;
    std::string format_ = "table";
};

}  // namespace

std::unique_ptr<Command> make_best_command() {
    return std::make_unique<BestCommand>();
}

}  // namespace normtune::cli
