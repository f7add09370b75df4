// Where a user's files are that outlive a run, and whether only he can have written them.
#pragma once

#include <string>
#include <string_view>

namespace normtune {

/// $`variable`/normtune (a variable of the XDG base directories), else ~/`below_home`/normtune; empty where neither is known: nothing of
/// a user's is kept where others can put theirs, as /tmp.
std::string user_folder(const char* variable, std::string_view below_home);

/// Is it there, of the user whose process this is, and can nobody else write it? Of a link: what it leads to.
bool only_ours(const std::string& path);

}  // namespace normtune
