// Which sanitizer the tests were built with: they run ten times as long then, and some need not be repeated so often.
#pragma once

#ifdef __has_feature  // Clang's way to tell; GCC has a macro for each
#define NORMTUNE_HAS(feature) __has_feature(feature)
#else
#define NORMTUNE_HAS(feature) 0
#endif

namespace normtune::testing {

#if defined(__SANITIZE_THREAD__) || NORMTUNE_HAS(thread_sanitizer)
inline constexpr bool thread_sanitized = true;
#else
inline constexpr bool thread_sanitized = false;
#endif
#if defined(__SANITIZE_ADDRESS__) || NORMTUNE_HAS(address_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = thread_sanitized;
#endif

}  // namespace normtune::testing
