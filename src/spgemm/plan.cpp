// What the products into a known structure share.
#include "quintet/spgemm/plan.hpp"
#include "spgemm/plan_kernel.hpp"

namespace quintet::spgemm::detail {

void structured_loop(std::int64_t rows, std::int64_t cols, memory_source& memory,
                     const std::function<void(std::int64_t, std::int64_t, std::int64_t*)>& work) {
  constexpr std::int64_t grain = 64;
  column_maps maps((rows + grain - 1) / grain, cols, memory);
  const auto* call = &work;
  host_loop(rows, grain, [=, all = maps.all()](std::int64_t begin, std::int64_t end) {
    column_maps::one map;
    all.take(map);
    (*call)(begin, end, map.data);
  });
}

}  // namespace quintet::spgemm::detail
