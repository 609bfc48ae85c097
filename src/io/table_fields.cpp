#include "io/table_fields.hpp"

namespace quintet::io {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

}  // namespace

char separator_of(std::string_view line) {
  for (const char c : {';', ',', '\t'})
    if (line.find(c) != std::string_view::npos) return c;
  return ' ';
}

bool split_fields(std::string_view line, char separator, std::vector<std::string>& fields) {
  fields.clear();
  const auto is_separator = [&](char c) { return separator == ' ' ? is_blank(c) : c == separator; };
  const auto skip = [&](std::size_t at) {
    while (at < line.size() && is_blank(line[at]) && (separator == ' ' || !is_separator(line[at]))) ++at;
    return at;
  };
  std::size_t at = skip(0);
  if (separator == ' ' && at == line.size()) return true;
  while (true) {
    std::string& field = fields.emplace_back();
    if (at < line.size() && line[at] == '"') {
      while (true) {
        const std::size_t end = line.find('"', at + 1);
        if (end == std::string_view::npos) return false;
        field += line.substr(at + 1, end - at - 1);
        at = end + 1;
        if (at >= line.size() || line[at] != '"') break;
        field += '"';
      }
    }
    while (at < line.size() && !is_separator(line[at])) field += line[at++];
    while (!field.empty() && is_blank(field.back())) field.pop_back();
    if (separator == ' ') at = skip(at);
    if (at >= line.size()) return true;
    if (separator != ' ') at = skip(at + 1);
  }
}

bool is_skipped(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first == std::string_view::npos || line[first] == '#';
}

}  // namespace quintet::io
