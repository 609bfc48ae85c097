#include "fuzz/file_input.hpp"
#include "quintet/io/npy.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const quintet::test::fuzz_file file(".npy");
  const std::string path = file.hold(data, size);
  quintet::test::read_or_refuse([&] { quintet::io::read_npy<float>(path); });
  return quintet::test::read_or_refuse([&] { quintet::io::read_npy<std::int32_t>(path); });
}
