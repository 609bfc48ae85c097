// A small reader of CSV files with a header line, for reference data: fields may be quoted, "" is a quote within one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace quintet::test {

class csv_table {
 public:
  explicit csv_table(const std::filesystem::path& path) : path_(path.string()) {
    std::ifstream file(path);
    std::string line;
    if (!std::getline(file, line)) throw std::runtime_error(path_ + ": cannot be read");
    header_ = split(line);
    while (std::getline(file, line))
      if (!line.empty()) rows_.push_back(split(line));
  }

  std::size_t rows() const { return rows_.size(); }
  const std::string& at(std::size_t row, const std::string& column) const { return rows_[row].at(index(column)); }

  std::vector<double> doubles(const std::string& column) const {
    return convert<double>(column, [](const std::string& field) { return std::stod(field); });
  }
  std::vector<std::int64_t> integers(const std::string& column) const {
    return convert<std::int64_t>(column, [](const std::string& field) { return std::stoll(field); });
  }

 private:
  std::size_t index(const std::string& column) const {
    const auto found = std::find(header_.begin(), header_.end(), column);
    if (found == header_.end()) throw std::runtime_error(path_ + ": no column " + column);
    return static_cast<std::size_t>(found - header_.begin());
  }

  template <class Value, class Convert>
  std::vector<Value> convert(const std::string& column, Convert one) const {
    const std::size_t field = index(column);
    std::vector<Value> values;
    for (const auto& row : rows_) values.push_back(one(row.at(field)));
    return values;
  }

  static std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> fields(1);
    bool is_quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const bool is_escape = is_quoted && line[i] == '"' && i + 1 < line.size() && line[i + 1] == '"';
      if (is_escape) {
        fields.back() += line[++i];
      } else if (line[i] == '"') {
        is_quoted = !is_quoted;
      } else if (line[i] == ',' && !is_quoted) {
        fields.emplace_back();
      } else if (line[i] != '\r') {
        fields.back() += line[i];
      }
    }
    return fields;
  }

  std::string path_;
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace quintet::test
