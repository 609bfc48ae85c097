// The first calls of a program on a processor that lacks what the library was compiled for: an exception each, with the
// sentence. Elsewhere they do what they do. Compiled for every x86-64, as a user would.
#include <quintet/core/build_info.hpp>
#include <quintet/core/error.hpp>
#include <quintet/device/device.hpp>
#include <quintet/device/thread_scope.hpp>
#include <quintet/spgemm/csr.hpp>
#include <quintet/spgemm/transpose.hpp>

#include <cstdio>
#include <cstring>
#include <string>

namespace {

int refused = 0, done = 0;

/// `call` throws ProcessorError, or nothing.
template <class Call>
void first(const Call& call) {
  try {
    call();
    ++done;
  } catch (const quintet::DeviceError& error) {
    if (refused++ == 0) std::printf("%s\n", error.what());
    if (dynamic_cast<const quintet::ProcessorError*>(&error) == nullptr) throw;
  }
}

}  // namespace

int main() {
  std::printf("version %s\n", std::string(quintet::build_info().version).c_str());
  first([] { quintet::threads(); });
  first([] { quintet::set_threads(1); });
  first([] { quintet::Device::best(); });
  first([] { (void)quintet::Device::host().name(); });
  first([] { const quintet::thread_scope one(1); });
  first([] {
    const std::int64_t rows[] = {0, 1}, columns[] = {0};
    const double values[] = {2};
    (void)quintet::spgemm::transpose(quintet::spgemm::csr_view<double, std::int64_t>{1, 1, rows, columns, values});
  });
  std::printf("%d refused, %d done\n", refused, done);
  return refused != 0 && done != 0 ? 1 : 0;
}
