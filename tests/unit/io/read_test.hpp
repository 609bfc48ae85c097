// What the tests of the readers share.
#pragma once

#include <functional>

#include "quintet/core/philox.hpp"
#include "quintet/io/snp_data.hpp"
#include "support/snp_text.hpp"
#include "unit/io/temporary_folder.hpp"

namespace quintet::test {

class snp_reading : public temporary_folder {
 protected:
  explicit snp_reading(std::string extension) : name_("a." + std::move(extension)) {}

  snp::Data data(std::string_view content, const io::snp_read_options& options = {}) const {
    return io::read_snp_data(file(name_, content), options).data;
  }
  std::string read(std::string_view content, const io::snp_read_options& options = {}) const {
    return counts_text(data(content, options));
  }
  void expect_bad(std::string_view content, std::string_view words, const io::snp_read_options& options = {}) const {
    SCOPED_TRACE(content);
    QUINTET_EXPECT_CONTAINS(error_of<FileError>([&] { read(content, options); }), words);
  }
  static io::snp_read_options by_rule(std::string_view rule) {
    return {.populations = io::population_map::from_rule(rule)};
  }

 private:
  std::string name_;
};

/// Every cut and many random changes of a good file end in data or in a FileError, never in anything else.
inline void expect_no_crash(const std::string& good, const std::function<void(const std::string&)>& read) {
  random_stream random(1);
  const auto attempt = [&](const std::string& content) {
    try {
      read(content);
      return 0;
    } catch (const FileError&) {
      return 1;
    }
  };
  int failures = 0;
  for (std::size_t length = 0; length < good.size(); ++length) failures += attempt(good.substr(0, length));
  for (int trial = 0; trial < 250; ++trial) {
    std::string changed = good;
    for (int change = 0; change < 3; ++change)
      changed[random.below(std::uint32_t(changed.size()))] =
          char(random.below(4) == 0 ? random.below(256) : good[random.below(std::uint32_t(good.size()))]);
    failures += attempt(changed);
  }
  EXPECT_GT(failures, 0);
}

}  // namespace quintet::test
