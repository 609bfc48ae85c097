// What reader and writer of extended Newick must agree on.
#pragma once

#include <cmath>
#include <string>
#include <string_view>

#include "core/parse_number.hpp"

namespace quintet::snp {

/// Whether the whole word is a finite number; its value.
inline bool is_number(std::string_view word, double& value) {
  const char *begin = word.data(), *end = begin + word.size();
  return !word.empty() && parse_number(&begin, end, value) == parse_status::ok && begin == end && std::isfinite(value);
}

/// Appends a name, in quotes where it needs them or when `must_quote` says so.
void append_newick_name(std::string& out, std::string_view name, bool must_quote);

}  // namespace quintet::snp
