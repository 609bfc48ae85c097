// Ends a program whose code is for another processor before main(), which is such code.
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "core/processor.hpp"

namespace quintet::driver {

namespace {

/// That of devices that fail: driver.cpp.
constexpr int device_trouble = 3;

// Behind the comparison, whose priority is 101, and before static objects.
[[gnu::constructor(102)]] void require_instructions() {
  const char* const sentence = detail::missing_instructions();
  if (sentence == nullptr) return;
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, sentence);
  std::_Exit(device_trouble);
}

}  // namespace

}  // namespace quintet::driver
