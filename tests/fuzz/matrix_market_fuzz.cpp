#include "fuzz/file_input.hpp"
#include "quintet/io/sparse_file.hpp"

// The first byte chooses between the plain and the compressed format.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const quintet::test::fuzz_file plain(".mtx"), compressed(".mtx.gz");
  if (size == 0) return 0;
  const std::string path = (data[0] == 'z' ? compressed : plain).hold(data + 1, size - 1);
  return quintet::test::read_or_refuse([&] { quintet::io::read_sparse<double, std::int32_t>(path); });
}
