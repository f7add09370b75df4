#include <filesystem>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/man_page.h"
#include "cli/output.h"
#include "support/atomic_file.h"

namespace normtune::cli {
namespace {

std::vector<std::string> command_names() {
    std::vector<std::string> names;
    for (const CommandEntry& entry : commands()) {
        names.emplace_back(entry.name);
    }
    return names;
}

class ManCommand : public Command {
public:
    void declare(OptionSet& options) override {
        Value name = word_of(command_names(), command_);
        name.placeholder = "COMMAND";
        options.one("COMMAND", std::move(name), "Whose page; without it that of normtune");
        options.one("--all", folder(all_), "Write every page into this folder instead of printing one");
        options.example("normtune man sweep | man -l -");
        options.example("normtune man --all ~/.local/share/man/man1");
    }

    ExitCode run(const std::vector<std::string>&) override {
        if (!all_.empty()) {
            write_all();
        } else if (command_.empty()) {
            print_data(man_page_of_normtune());
        } else {
            for (const CommandEntry& entry : commands()) {
                if (entry.name == command_) {
                    print_data(man_page(entry));
                }
            }
        }
        return ExitCode::good;
    }

private:
    void write_all() const {
        if (!command_.empty()) {
            throw InputError("--all writes every page; leave the command out");
        }
        std::error_code error;
        std::filesystem::create_directories(all_, error);
        if (error) {
            throw SystemError(fmt::format("cannot make the folder {}: {}", quoted_for_message(all_), error.message()));
        }
        write_file_atomically(all_ + "/normtune.1", man_page_of_normtune());
        for (const CommandEntry& entry : commands()) {
            write_file_atomically(fmt::format("{}/normtune-{}.1", all_, entry.name), man_page(entry));
        }
    }

    std::string command_;
    std::string all_;
};

}  // namespace

std::unique_ptr<Command> make_man_command() {
    return std::make_unique<ManCommand>();
}

}  // namespace normtune::cli
