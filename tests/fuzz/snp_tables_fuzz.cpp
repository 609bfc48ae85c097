// PHYLIP, tables of counts and population maps; the first byte chooses.
#include "fuzz/file_input.hpp"
#include "quintet/io/population_map.hpp"
#include "quintet/io/snp_data.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const quintet::test::fuzz_file phylip(".phy"), table(".csv"), map(".txt");
  using quintet::test::read_or_refuse;
  if (size == 0) return 0;
  const auto held = [&](const quintet::test::fuzz_file& file) { return file.hold(data + 1, size - 1); };
  if (data[0] == 'p') return read_or_refuse([path = held(phylip)] { quintet::io::read_snp_data(path); });
  if (data[0] == 'm') return read_or_refuse([path = held(map)] { quintet::io::population_map::from_file(path); });
  return read_or_refuse([path = held(table)] { quintet::io::read_snp_data(path); });
}
