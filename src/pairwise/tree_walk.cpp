#include "pairwise/tree_walk.hpp"

#include "instantiate.hpp"

namespace quintet::pairwise {

#define QUINTET_INSTANTIATE(Real)                                                                            \
  template std::int64_t walk(const tree_view<Real>&, const walking_point<Real>&, bool, nearest_sink<Real>&); \
  template std::int64_t walk(const tree_view<Real>&, const walking_point<Real>&, bool, radius_sink<Real>&);  \
  template std::int32_t first_leaf(const tree_view<Real>&, const walking_point<Real>&);
QUINTET_FOR_EACH_REAL(QUINTET_INSTANTIATE)

}  // namespace quintet::pairwise
