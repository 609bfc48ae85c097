#include "fuzz/file_input.hpp"
#include "quintet/io/sparse_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const quintet::test::fuzz_file file(".npz");
  const std::string path = file.hold(data, size);
  return quintet::test::read_or_refuse([&] { quintet::io::read_sparse<double, std::int32_t>(path); });
}
