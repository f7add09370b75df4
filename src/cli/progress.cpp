#include "cli/progress.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/output.h"
#include "support/escape.h"
#include "support/plural.h"

namespace normtune::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto redraw_every = 100ms;
constexpr auto line_every = 10s;
constexpr int bar_cells = 24;
constexpr int narrowest = 40;
constexpr int usual_width = 80;

std::string remaining_text(const Progress& progress) {
    const bool told = progress.remaining_s >= 0 && progress.trials_done > 0 && progress.trials_done < progress.trials_total;
    return !told ? "" : time_text(progress.remaining_s) + " left";
}

}  // namespace

std::string progress_bar(const Progress& progress, int width) {
    const double share =
        progress.trials_total == 0 ? 0 : static_cast<double>(progress.trials_done) / static_cast<double>(progress.trials_total);
    const auto filled = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * bar_cells);
    std::string bar(filled, '=');
    bar += filled < bar_cells ? ">" : "";
    bar.resize(bar_cells, ' ');
    std::string line = fmt::format("[{}] {}/{}  {}/s", bar, progress.trials_done, counted(progress.trials_total, "trial"),
                                   three_digits(progress.trials_per_s));
    const std::string faulty = progress.faulty > 0 ? fmt::format("{} faulty", progress.faulty) : "";
    for (const std::string& part : {remaining_text(progress), faulty, progress.doing, progress.problem_key}) {
        line += part.empty() ? "" : "  " + part;
    }
    return line.substr(0, static_cast<std::size_t>(std::max(width, narrowest)) - 1);  // a full line would wrap
}

std::string progress_line(const Progress& progress) {
    std::string line =
        fmt::format("{} of {}, {}/s", progress.trials_done, counted(progress.trials_total, "trial"), three_digits(progress.trials_per_s));
    if (const std::string left = remaining_text(progress); !left.empty()) {
        line += ", " + left;
    }
    if (progress.faulty > 0) {
        line += fmt::format(", {} faulty", progress.faulty);
    }
    return line;
}

ProgressReport::ProgressReport(std::FILE* stream, bool quiet)
    : stream_(stream), quiet_(quiet), terminal_(is_terminal(stream)), style_(style_of(stream)), next_(Clock::now()) {
    next_ += terminal_ ? Clock::duration::zero() : Clock::duration(line_every);
}

ProgressReport::~ProgressReport() {
    clear_bar();
}

void ProgressReport::update(const Progress& progress) {
    if (!quiet_ && !terminal_ && !said_what_is_done_ && progress.lasting) {  // before a silence
        said_what_is_done_ = true;
        show(for_terminal(fmt::format("{}: {}", progress.problem_key, progress.doing)) + "\n");
    }
    const bool last = progress.trials_total > 0 && progress.trials_done == progress.trials_total;
    if (quiet_ || finished_ || (!last && !(terminal_ && !progress.doing.empty()) && Clock::now() < next_)) {
        return;
    }
    if (terminal_) {
        const int width = terminal_width(stream_);
        show("\r\033[K" + progress_bar(progress, width > 0 ? width : usual_width));
        bar_shown_ = true;
        next_ = Clock::now() + redraw_every;
    } else {
        show(progress_line(progress) + "\n");
        next_ = Clock::now() + line_every;
        finished_ = last;
    }
}

void ProgressReport::warn(const std::string& line) {
    if (quiet_) {
        return;
    }
    clear_bar();
    show(style_.bold("warning: ") + report_for_terminal(for_terminal(line)) + "\n");
}

void ProgressReport::note(const std::string& line) {
    if (!quiet_) {
        clear_bar();
        show(report_for_terminal(for_terminal(line)) + "\n");
    }
}

MakeSink progress_on_stderr(bool quiet) {
    return [quiet] { return std::make_unique<ProgressReport>(stderr, quiet); };
}

/// What cannot be written is lost: a closed or full stderr ends no run.
void ProgressReport::show(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stream_);
    std::fflush(stream_);
}

void ProgressReport::clear_bar() {
    if (bar_shown_) {
        show("\r\033[K");
        bar_shown_ = false;
    }
}

}  // namespace normtune::cli
