// A run's progress on stderr: a bar that redraws itself on a terminal, now and then a plain line elsewhere.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>

#include "report/table.h"
#include "run/remeasure.h"

namespace normtune::cli {

/// "[=====>    ]  45/120 trials  12.3/s  6 s left  2 faulty  rms_norm/…", at most `width` characters.
std::string progress_bar(const Progress& progress, int width);
/// "45 of 120 trials, 12.3/s, 6 s left, 2 faulty".
std::string progress_line(const Progress& progress);

class ProgressReport : public ProgressSink {
public:
    ProgressReport(std::FILE* stream, bool quiet);
    ~ProgressReport() override;  // leaves no half-drawn bar
    void update(const Progress& progress) override;
    void warn(const std::string& line) override;
    void note(const std::string& line) override;

private:
    using Clock = std::chrono::steady_clock;
    void show(const std::string& text);
    void clear_bar();

    std::FILE* stream_;
    bool quiet_;
    bool terminal_;
    Style style_;
    bool bar_shown_ = false;
    bool finished_ = false;
    bool said_what_is_done_ = false;
    Clock::time_point next_;
};

/// A report on stderr for each sweep.
MakeSink progress_on_stderr(bool quiet);

}  // namespace normtune::cli
