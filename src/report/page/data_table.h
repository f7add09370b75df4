// A table that the page's script sorts, filters and shows a part of at a time, as JSON in the page.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "support/text_sink.h"

namespace normtune {

struct DataColumn {
    enum class Kind {
        name,    // few different texts: written as numbers of them, and offered as a filter
        text,    // many
        number,  // null where there is none
        detail   // text that is shown below its row when it is asked for
    };
    std::string id;
    std::string label;
    Kind kind = Kind::number;
    std::string help = {};
};

/// Numbers of texts, each kept once.
class DataNames {
public:
    std::size_t number(const std::string& text);
    const std::vector<std::string>& all() const { return all_; }

private:
    std::vector<std::string> all_;
    std::unordered_map<std::string, std::size_t> numbers_;
};

/// A value of a table with six significant digits; null where it is none.
nlohmann::json data_number(double value);

/// The elements that the script fills. `row` gives the cells of a row in the order of the columns; a name's and a detail's are numbers of
/// `names`, of the column's place. In details \1 stands for the row's first cell and \2 for that of the column
/// "candidate", which there has to be.
void write_data_table(TextSink& out, std::string_view caption, const std::vector<DataColumn>& columns, std::string_view sorted_by,
                      const std::vector<DataNames>& names, std::size_t rows, const std::function<nlohmann::json(std::size_t)>& row);

}  // namespace normtune
