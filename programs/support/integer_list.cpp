#include "support/integer_list.hpp"

#include <boost/program_options.hpp>
#include <charconv>
#include <optional>
#include <system_error>

#include "support/command_line.hpp"

namespace quintet::driver {

namespace {

constexpr std::int64_t most_values = 1000000;

std::optional<std::int64_t> integer_of(const std::string& field) {
  std::int64_t value = 0;
  const char* const end = field.data() + field.size();
  const auto [stop, error] = std::from_chars(field.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

/// Adds FIRST:LAST:STEP; false for what cannot be read.
bool add_range(const std::string& range, std::vector<std::int64_t>& values) {
  std::vector<std::int64_t> fields;
  for (const std::string& field : split(range, ':')) {
    const std::optional<std::int64_t> value = integer_of(field);
    if (!value) return false;
    fields.push_back(*value);
  }
  if (fields.size() > 3) return false;
  const std::int64_t first = fields[0], last = fields.size() > 1 ? fields[1] : first;
  const std::int64_t step = fields.size() > 2 ? fields[2] : 1;
  if (step < 1 || last < first) return false;
  if (double(last) - double(first) >= double(most_values - std::int64_t(values.size())) * double(step)) return false;
  const std::int64_t steps = (last - first) / step;
  for (std::int64_t i = 0; i <= steps; ++i) values.push_back(first + i * step);
  return true;
}

}  // namespace

void validate(boost::any& result, const std::vector<std::string>& texts, integer_list*, int) {
  po::validators::check_first_occurrence(result);
  integer_list list;
  list.spelling = po::validators::get_single_string(texts);
  if (list.spelling != "all" && list.spelling != "auto")
    for (const std::string& range : split(list.spelling, ','))
      if (!add_range(range, list.values)) throw po::validation_error(po::validation_error::invalid_option_value);
  result = list;
}

}  // namespace quintet::driver
