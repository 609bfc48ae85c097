// The nearest of the words that are allowed, for the message about one that is not.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quintet/core/compiler.hpp"

namespace quintet::detail {

/// Number of changes of a single character from one word to another.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = (std::min)({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

/// "; did you mean cosine?" for a word with at most a third of its characters, or two, changed, or for the beginning of
/// one; empty where no word is so near. `prefix` precedes the word in the question.
inline std::string did_you_mean(std::string_view unknown, std::span<const std::string_view> words,
                                std::string_view prefix = "") {
  std::string_view best;
  std::size_t min = (std::max<std::size_t>)(2, unknown.size() / 3) + 1;
  for (const std::string_view word : words) {
    const bool begins = unknown.size() >= 3 && word.starts_with(unknown);
    const std::size_t distance = begins ? 1 : edit_distance(unknown, word);
    if (distance >= min || distance >= word.size()) continue;
    min = distance;
    best = word;
  }
  return best.empty() ? "" : "; did you mean " + std::string(prefix) + std::string(best) + "?";
}

}  // namespace quintet::detail
