// What a program must share with the library that it is linked with, and attributes that not every compiler has.
#pragma once

#if __cplusplus < 202002L
#error "quintet needs C++20: compile with -std=c++20 or a later standard"
#endif

#include <version>

/// Of a member that returns a view: compilers that know the attribute warn where the object is a temporary.
#if defined(__clang__)
#define QUINTET_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define QUINTET_LIFETIMEBOUND
#endif

#ifdef _GLIBCXX_DEBUG
namespace quintet::detail {
/// Containers have another layout with _GLIBCXX_DEBUG. Only a library compiled with it defines this.
extern const char library_compiled_with_GLIBCXX_DEBUG;
[[gnu::used]] inline const char* const containers_of_library = &library_compiled_with_GLIBCXX_DEBUG;
}  // namespace quintet::detail
#endif

#if defined(QUINTET_COMPARES_PROCESSOR) && defined(__x86_64__)
// In the library alone: each of its objects brings the check of the processor (src/core/processor.hpp) into a program.
asm(".reloc 0, R_X86_64_NONE, quintet_entries_are_checked");
#endif
