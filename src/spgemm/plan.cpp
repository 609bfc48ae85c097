// What the products into a known structure share.
#include <algorithm>

#include "quintet/spgemm/plan.hpp"
#include "spgemm/operands.hpp"

namespace quintet::spgemm::detail {

void structured_loop(std::int64_t rows, std::int64_t cols, memory_source& memory,
                     const std::function<void(std::int64_t, std::int64_t, std::int64_t*)>& work) {
  constexpr std::int64_t grain = 64;
  const std::int64_t workers = std::min<std::int64_t>(threads(), (rows + grain - 1) / grain);
  const bool mapped = cols <= widest_accumulator;
  array<std::int64_t> maps(mapped ? workers * cols : 0, memory);
  std::fill(maps.begin(), maps.end(), -1);
  std::int64_t next = 0, *shared = &next;
  std::int64_t* const all = maps.data();
  const auto* call = &work;
  host_loop(workers, 1, [=](std::int64_t w, std::int64_t) {
    for (std::int64_t begin = device::atomic_draw(shared, grain); begin < rows;
         begin = device::atomic_draw(shared, grain))
      (*call)(begin, std::min(rows, begin + grain), mapped ? all + w* cols : nullptr);
  });
}

}  // namespace quintet::spgemm::detail
