#include "report/page/plot_png.h"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "report/page/plot_svg.h"
#include "support/atomic_file.h"
#include "support/child_process.h"
#include "support/error.h"
#include "support/pattern.h"
#include "support/programs.h"
#include "support/scratch_folder.h"

namespace normtune {
namespace {

std::string find_converter() {
    if (const auto found = program_on_path("rsvg-convert")) {
        return *found;
    }
    throw SystemError("a PNG needs rsvg-convert, which is not on PATH; install librsvg2-bin, or take --format svg");
}

}  // namespace

std::string png_of(const Plot& plot, std::string_view about) {
    const std::string converter = find_converter();
    const ScratchFolder folder;
    const std::string svg = folder.path("plot.svg");
    const std::string png = folder.path("plot.png");
    const std::string log = folder.path("log");
    write_file_atomically(svg, [&](TextSink& out) { write_svg(out, plot, about); });
    constexpr std::chrono::seconds limit{60};
    const ChildEnd end = run_child({converter, "--zoom=2", "--output=" + png, svg}, log, limit);
    if (end.status != 0 || end.signal != 0 || end.timed_out) {
        const std::string said = read_file(log);
        throw SystemError(fmt::format("{} failed ({}): {}", converter, end.description(), said.substr(0, said.find('\n'))));
    }
    return read_file(png);
}

}  // namespace normtune
