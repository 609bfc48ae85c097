#include "quintet/io/file_format.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "io/descriptor_path.hpp"
#include "quintet/core/error.hpp"
#include "quintet/io/atomic_file.hpp"

namespace quintet::io {

namespace {

struct extension {
  std::string_view name;
  file_format format;
};
constexpr std::array extensions{extension{".csv", file_format::csv}, extension{".npy", file_format::npy},
                                extension{".h5", file_format::hdf5}, extension{".hdf5", file_format::hdf5}};

std::string extension_of(std::string_view path) {
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  const std::size_t dot = name.find_last_of('.');
  // ".csv" is a hidden file without extension.
  if (dot == std::string_view::npos || dot == 0) return "";
  std::string lower(name.substr(dot));
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

}  // namespace

file_format format_of(std::string_view path, const std::vector<file_format>& allowed) {
  std::string name = extension_of(path);
  if (name.empty() && descriptor_of(std::string(path)) >= 0) name = ".csv";
  std::string choices;
  for (const extension& known : extensions) {
    if (std::find(allowed.begin(), allowed.end(), known.format) == allowed.end()) continue;
    if (known.name == name) return known.format;
    choices.append(choices.empty() ? "" : ", ").append(known.name);
  }
  throw FileError(path, name.empty() ? text("has no extension that tells its format; allowed are ", choices)
                                     : text("extension \"", name, "\" is not supported here; allowed are ", choices));
}

file_format check_output(std::string_view path, const std::vector<file_format>& allowed) {
  const file_format format = format_of(path, allowed);
  check_writable(std::string(path));
  return format;
}

}  // namespace quintet::io
