#pragma once

namespace bide::test {

// g++ says by which sanitizer a file is compiled with a macro for each, clang by __has_feature.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool address_sanitizer = true;
#elif defined(__has_feature)
inline constexpr bool address_sanitizer = __has_feature(address_sanitizer);
#else
inline constexpr bool address_sanitizer = false;
#endif

#if defined(__SANITIZE_THREAD__)
inline constexpr bool thread_sanitizer = true;
#elif defined(__has_feature)
inline constexpr bool thread_sanitizer = __has_feature(thread_sanitizer);
#else
inline constexpr bool thread_sanitizer = false;
#endif

/// Everything takes several times as long: fewer rounds will do.
inline constexpr bool sanitized = address_sanitizer || thread_sanitizer;

}  // namespace bide::test
