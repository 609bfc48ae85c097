#include "fuzz/file_input.hpp"
#include "quintet/io/snp_data.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const quintet::test::fuzz_file file(".vcf");
  static const quintet::io::population_map map = quintet::io::population_map::from_rule("before-first:_");
  const std::string path = file.hold(data, size);
  return quintet::test::read_or_refuse([&] { quintet::io::read_snp_data(path, {.populations = map}); });
}
