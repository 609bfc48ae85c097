#include "fuzz/file_input.hpp"
#include "quintet/io/csv.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const quintet::test::fuzz_file file(".csv");
  const std::string path = file.hold(data, size);
  quintet::test::read_or_refuse([&] { quintet::io::read_csv<float>(path); });
  return quintet::test::read_or_refuse([&] { quintet::io::read_csv<std::int64_t>(path); });
}
