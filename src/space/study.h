// A study: a question that is asked by measuring some shapes over some space.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "problem/selection.h"
#include "space/space.h"

namespace normtune {

struct Study {
    std::string name;
    std::string question;             // what its results answer, in a sentence
    std::vector<std::string> shapes;  // shape files: paths, or names of shipped ones
    Selection select;                 // of those files
    SearchSpace space;                // inline in the file, or a space file by its name
};

/// A name that is no file is looked up among the shipped ones ("te_615" or "te_615.yaml").
/// Throws InputError (file, line, what is wrong, what would be right).
Study load_study(const std::string& path_or_name);
Study parse_study(std::string_view yaml, const std::string& file_for_messages);

}  // namespace normtune
