// normtune: words → command → run → exit code, and the only catch.
#include <csignal>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/output.h"
#include "devices/registry.h"
#include "run/worker/worker.h"
#include "support/descriptor.h"
#include "support/error.h"

namespace {

int fail(normtune::ExitCode code, std::string_view why) {
    normtune::cli::complain(why);
    return static_cast<int>(code);
}

}  // namespace

int main(int argc, char** argv) {
    using namespace normtune;
    open_standard_streams();
    std::signal(SIGXFSZ, SIG_IGN);  // a file-size limit is then a write that fails, and gets its one line
    std::signal(SIGPIPE, SIG_IGN);  // so is a reader of our output that went away
    try {
        if (const std::optional<int> status = run_as_worker(argc, argv)) {  // a sweep's own child process
            return *status;
        }
        if (const std::optional<int> status = run_as_backends_child(argc, argv)) {  // a compile pool's own child
            return *status;
        }
        const std::vector<std::string> words(argv, argv + argc);
        return static_cast<int>(cli::parse_command_line(words)->run(words));
    } catch (const InputError& error) {
        return fail(ExitCode::usage, error.what());
    } catch (const SystemError& error) {
        return fail(ExitCode::usage, error.what());
    } catch (const InterruptedError& error) {
        return fail(ExitCode::interrupted, error.what());
    } catch (const std::system_error& error) {  // no thread, no process, no folder: limits of the system
        return fail(ExitCode::usage, fmt::format("the system would not let it: {}", error.what()));
    } catch (const std::bad_alloc&) {
        return fail(ExitCode::usage, "out of memory; select fewer problems, or a smaller space");
    } catch (const std::exception& error) {
        return fail(ExitCode::defect, fmt::format("internal error: {}; please report it with its command line", error.what()));
    }
}
