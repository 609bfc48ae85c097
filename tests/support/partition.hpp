// Clusterings compared as partitions: the numbers of the labels do not matter, except that -1 is noise.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace quintet::test {

/// Labels renamed in the order of their first points; -1 stays.
inline std::vector<std::int64_t> canonical_labels(const std::vector<std::int64_t>& labels) {
  std::map<std::int64_t, std::int64_t> name{{-1, -1}};
  std::vector<std::int64_t> result;
  for (const std::int64_t label : labels)
    result.push_back(name.emplace(label, std::int64_t(name.size()) - 1).first->second);
  return result;
}

/// Adjusted Rand index of two labellings (Hubert and Arabie 1985), noise counted as one group: 1 for equal partitions.
inline double adjusted_rand_index(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  std::map<std::int64_t, std::int64_t> in_a, in_b;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> in_both;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ++in_a[a[i]];
    ++in_b[b[i]];
    ++in_both[{a[i], b[i]}];
  }
  const auto pairs = [](const auto& groups) {
    double sum = 0;
    for (const auto& [group, size] : groups) sum += double(size) * double(size - 1) / 2;
    return sum;
  };
  const double all = double(a.size()) * double(a.size() - 1) / 2;
  const double expected = pairs(in_a) * pairs(in_b) / all, max = (pairs(in_a) + pairs(in_b)) / 2;
  return max == expected ? 1 : (pairs(in_both) - expected) / (max - expected);
}

}  // namespace quintet::test
