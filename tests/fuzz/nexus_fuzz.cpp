#include "fuzz/file_input.hpp"
#include "quintet/io/snp_data.hpp"
#include "quintet/io/snp_network.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const quintet::test::fuzz_file file(".nex");
  const std::string path = file.hold(data, size);
  quintet::test::read_or_refuse([&] { quintet::io::read_network(path, {.theta = 0.01}); });
  return quintet::test::read_or_refuse([&] { quintet::io::read_snp_data(path); });
}
