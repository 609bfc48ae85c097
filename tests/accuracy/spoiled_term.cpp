// The n of spoiled_term.hpp.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace quintet::accuracy {

bool is_spoiled();

namespace {

std::int64_t wanted() {
  const char* text = std::getenv("QUINTET_SPOILED_TERM");
  return text == nullptr ? 0 : std::stoll(text);
}

}  // namespace

bool is_spoiled() {
  static std::atomic<std::int64_t> left = wanted();
  return left.fetch_sub(1, std::memory_order_relaxed) == 1;
}

}  // namespace quintet::accuracy
