#include "snp/likelihood/change_log.hpp"

#include <algorithm>
#include <utility>

namespace quintet::snp {

change_log::change_log(std::int64_t branches) {
  changes_.branch.resize(std::size_t(branches));
  changes_.inheritance.resize(std::size_t(branches));
  clear_flags();
  changes_.all = true;
}

void change_log::clear_flags() {
  changes_.all = changes_.root = false;
  changes_.branch.assign(changes_.branch.size(), false);
  changes_.inheritance.assign(changes_.inheritance.size(), false);
}

bool change_log::is_changed() const {
  const auto any = [](const std::vector<bool>& flags) {
    return std::find(flags.begin(), flags.end(), true) != flags.end();
  };
  return changes_.all || changes_.root || any(changes_.branch) || any(changes_.inheritance);
}

void change_log::evaluated() {
  has_evaluated_ = true;
  clear_flags();
}

void change_log::interrupt() {
  is_interrupted_ = true;
  is_base_lost_ = is_base_lost_ || has_evaluated_;
  has_evaluated_ = false;
  changes_.all = true;
}

void change_log::accept() {
  proposal_.clear();
  is_base_lost_ = false;
}

change_log::rejection change_log::kind_of_rejection() const {
  if (is_base_lost_) return rejection::base_is_lost;
  return has_evaluated_ ? rejection::to_base : rejection::nothing;
}

namespace {

void put_back(const change_log::change& c, Network& network, model& m) {
  using change = change_log::change;
  switch (c.parameter) {
    case change::length:
      return network.set_length(c.branch, c.before);
    case change::theta:
      return network.set_theta(c.branch, c.before);
    case change::gamma:
      return network.set_gamma(c.branch, c.before);
    case change::root_theta:
      return network.set_root_theta(c.before);
    case change::rates:
      m.u = c.before;
      m.v = c.before2;
      return;
  }
}

}  // namespace

void change_log::reject(Network& network, model& m) {
  if (is_base_lost_) {
    is_interrupted_ = true;
    has_evaluated_ = false;
  }
  for (auto c = proposal_.rbegin(); c != proposal_.rend(); ++c) put_back(*c, network, m);
  proposal_.clear();
  clear_flags();
  changes_.all = std::exchange(is_base_lost_, false);
}

}  // namespace quintet::snp
