// Sizes of tests that would take minutes under a sanitizer, or on the processors of an emulating plugin.
#pragma once

#include <cstdint>

namespace quintet::test {

/// Whether this is a build for one of the sanitizers: everything takes several times as long.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
inline constexpr bool sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool sanitized = false;
#endif

/// Whether devices are the plugin's: threads of this machine, many more than it has processors.
#ifdef QUINTET_TEST_EMULATION
inline constexpr bool emulating = true;
#else
inline constexpr bool emulating = false;
#endif

/// `size`, or `small` where everything takes several times as long.
constexpr std::int64_t sized(std::int64_t size, std::int64_t small) { return sanitized || emulating ? small : size; }

}  // namespace quintet::test
