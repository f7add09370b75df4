// Options of every command that prints a table: in which format, in which order, how much of it, and in colour or not.
#pragma once

#include <string>
#include <vector>

#include "cli/option_set.h"
#include "report/sections.h"

namespace normtune::cli {

class TableOptions {
public:
    /// `more`: formats of the command's own, after table, markdown, csv and json; `help`: what it says of formats.
    void declare(OptionSet& options, const std::vector<std::string>& more = {}, std::string_view help = "");

    bool is(std::string_view format) const { return format_ == format; }
    bool given() const { return orders() || !is("table"); }
    bool orders() const { return !order_.column.empty() || top_ > 0; }
    /// A format that has everything as it is, so that --sort and --top do not go with it. Throws InputError.
    void require_no_order() const;
    /// Ahead of what takes long. Throws InputError: --sort names none of the headings that the tables may have, or the format takes none.
    void require_order(const std::vector<std::string>& headings) const;
    /// Of stdout.
    Style style() const;
    /// The tables that were asked for, printed.
    void show(std::vector<Section> sections) const;
    /// The same of what took a measurement: --sort by a column that came to no table is an error once they were printed as they are.
    void show_measured(const std::vector<Section>& sections) const;
    /// The same as text, for what is printed with more around it.
    std::string text(std::vector<Section> sections) const;

private:
    std::string format_ = "table";
    std::string color_ = "auto";
    TableOrder order_;
    std::int64_t top_ = 0;
};

}  // namespace normtune::cli
