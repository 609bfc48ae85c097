// Whole numbers as the value of an option.
#pragma once

#include <boost/any.hpp>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace quintet::driver {

/// N, FIRST:LAST or FIRST:LAST:STEP, several of them joined by commas; or "all" or "auto".
struct integer_list {
  std::string spelling;              ///< as it stands on the command line
  std::vector<std::int64_t> values;  ///< none for a word

  bool is(std::string_view word) const { return values.empty() && spelling == word; }
};

inline std::ostream& operator<<(std::ostream& out, const integer_list& list) { return out << list.spelling; }

/// What Boost's program_options calls to read the value. Lists have at most 10^6 numbers.
void validate(boost::any& result, const std::vector<std::string>& texts, integer_list*, int);

}  // namespace quintet::driver
