// C functions that read and write indexes: part of quintet_io.
#include "quintet/c/neighbours_files.h"

#include <variant>

#include "c/neighbours_support.hpp"
#include "quintet/io/neighbours_index.hpp"

using namespace quintet;
using namespace quintet::c;

extern "C" {

quintet_status quintet_index_save(const quintet_index* index, const char* path) noexcept {
  return guarded([&] {
    std::visit([&](const auto& of) { io::write_index(&required(path, "path"), of); }, required(index, "index").any);
  });
}

quintet_status quintet_index_load(const char* path, const char* device, quintet_index** index) noexcept {
  return make_handle(index,
                     [&] { return quintet_index{io::read_any_index(&required(path, "path"), chosen_device(device))}; });
}

}  // extern "C"
