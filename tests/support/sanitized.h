// Which sanitizer the tests were built with: they run ten times as long then, and some need not be repeated so often.
#pragma once

#include <gtest/gtest.h>

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

/// Ends a test that takes long with a sanitizer, which sees the code that it is of in shorter ones.
#define NORMTUNE_NOT_SANITIZED(what)                                                 \
    if (normtune::testing::sanitized) {                                              \
        GTEST_SKIP() << what << ": a sanitizer sees the same code in shorter tests"; \
    }                                                                                \
    static_assert(true)
