// Lines of text tables, cut into fields.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace quintet::io {

/// What stands between the fields of a table like this line: ';', ',' or a tab, in this order of preference; otherwise
/// a blank, for any number of blanks and tabs.
char separator_of(std::string_view line);

/// The fields of a line, blanks around them left out, quotes around a whole field taken off ("" within is a quote).
/// False when a quoted field does not end.
bool split_fields(std::string_view line, char separator, std::vector<std::string>& fields);

/// Whether a line is empty or a comment that begins with '#'.
bool is_skipped(std::string_view line);

}  // namespace quintet::io
