// What an index keeps.
#pragma once

#include <memory>
#include <utility>

#include "pairwise/kept_points.hpp"
#include "quintet/neighbours/index.hpp"

namespace quintet::neighbours::detail {

template <class Real>
struct index_state : pairwise::kept_points<Real> {
  explicit index_state(pairwise::kept_points<Real> points) : pairwise::kept_points<Real>(std::move(points)) {}

  bool looks_at_all() const { return this->settings.method == pairwise::search_choice::all_pairs; }
};

template <class Real>
std::shared_ptr<const index_state<Real>> state_of(pairwise::kept_points<Real> points) {
  return std::make_shared<const index_state<Real>>(std::move(points));
}

static_assert(int(search::automatic) == int(pairwise::search_choice::automatic) &&
              int(search::tree) == int(pairwise::search_choice::tree) &&
              int(search::all_pairs) == int(pairwise::search_choice::all_pairs));

}  // namespace quintet::neighbours::detail
