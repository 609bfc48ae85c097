#include "quintet/io/neighbours_index.hpp"

#include <cstddef>
#include <vector>

#include "instantiate.hpp"
#include "io/input_file.hpp"
#include "quintet/io/atomic_file.hpp"

namespace quintet::io {

namespace {

std::vector<std::byte> bytes_of_file(const std::string& path) {
  input_file file(path);
  if (!file.regular()) throw FileError(path, "is not a regular file");
  require_memory(path, file.size(), 1);
  std::vector<std::byte> bytes(static_cast<std::size_t>(file.size()));
  file.read_exactly(bytes.data(), bytes.size(), "the index");
  return bytes;
}

}  // namespace

template <class Storage>
void write_index(const std::string& path, const neighbours::index<Storage>& index) {
  atomic_file file(path);
  const std::vector<std::byte> bytes = index.to_bytes();
  file.write(bytes.data(), bytes.size());
  file.commit();
}

template <class Storage>
neighbours::index<Storage> read_index(const std::string& path, const Device& device) {
  return neighbours::index<Storage>::from_bytes(bytes_of_file(path), device, path);
}

neighbours::any_index read_any_index(const std::string& path, const Device& device) {
  return neighbours::any_index_from_bytes(bytes_of_file(path), device, path);
}

#define QUINTET_INSTANTIATE(Storage)                                                \
  template void write_index(const std::string&, const neighbours::index<Storage>&); \
  template neighbours::index<Storage> read_index(const std::string&, const Device&);
QUINTET_FOR_EACH_STORAGE(QUINTET_INSTANTIATE)

}  // namespace quintet::io
