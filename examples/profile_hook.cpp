// Stages as ranges of a profiler: this hook prints them. NVTX wants nvtxRangePushA(stage) and nvtxRangePop() in its
// place, ITT __itt_task_begin(domain, __itt_null, __itt_null, __itt_string_handle_create(stage)) and
// __itt_task_end(domain).
#include <iostream>
#include <string>
#include <vector>

#include "quintet/core/profile.hpp"
#include "quintet/hdbscan/hdbscan.hpp"

int main() {
  std::string indent;  // of one thread: a hook of several has to see to that itself
  quintet::set_profile_hook({.begin =
                                 [](void* to, const char* stage) {
                                   auto& depth = *static_cast<std::string*>(to);
                                   std::cout << depth << stage << "\n";
                                   depth += "  ";
                                 },
                             .end =
                                 [](void* to, const char*) {
                                   auto& depth = *static_cast<std::string*>(to);
                                   depth.resize(depth.size() - 2);
                                 },
                             .context = &indent});
  std::vector<float> values(500 * 2);
  for (std::size_t e = 0; e < values.size(); ++e) values[e] = float(e * 7919 % 101);
  const quintet::stage_region mine("my_study");  // a program's own stages are regions too
  quintet::hdbscan::cluster(quintet::matrix_view<const float>(values.data(), 500, 2), {.min_cluster_size = 20});
}
