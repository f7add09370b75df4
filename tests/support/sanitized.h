// Which sanitizer the tests were built with: they run ten times as long then, and some need not be repeated so often.
#pragma once

namespace normtune::testing {

#ifdef __SANITIZE_THREAD__
inline constexpr bool thread_sanitized = true;
#else
inline constexpr bool thread_sanitized = false;
#endif
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = thread_sanitized;
#endif

}  // namespace normtune::testing
