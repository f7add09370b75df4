// Parts of a space file as YAML values; what is common to space files and studies.
#pragma once

#include <string>

#include "space/space.h"
#include "space/study.h"
#include "support/yaml_reader.h"

namespace normtune {

/// Reads `axes` and `rules` of a map; other keys are the caller's to check. Throws InputError.
SearchSpace read_space(const YamlNode& node, const std::string& name);

/// Reads a study from its file's root. Throws InputError.
Study read_study(const YamlNode& root);

}  // namespace normtune
