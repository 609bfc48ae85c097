#include "support/snp_priors.hpp"

#include <filesystem>
#include <fstream>
#include <ios>
#include <sstream>

#include "quintet/core/error.hpp"

namespace quintet::driver {

namespace {

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream content;
  if (!in || !(content << in.rdbuf())) {
    if (!in.is_open() || !std::filesystem::is_empty(path)) throw FileError(path, "cannot be read");
  }
  return content.str();
}

}  // namespace

std::vector<snp::prior_source> prior_sources(const std::string& file, const std::vector<std::string>& values) {
  std::vector<snp::prior_source> sources;
  if (!file.empty()) sources.push_back({file, content_of(file)});
  sources.push_back({"--prior", ""});
  for (const std::string& value : values) sources.back().lines += value + "\n";
  return sources;
}

}  // namespace quintet::driver
