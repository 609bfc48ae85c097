// Wrong predictions, small tables, empty arenas and failing allocations: the same bits, bounded memory, nothing leaked.
#include "quintet/spgemm/memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <numeric>

#include "quintet/spgemm/device_csr.hpp"
#include "quintet/spgemm/multiply.hpp"
#include "quintet/spgemm/top.hpp"
#include "quintet/spgemm/transpose.hpp"
#include "spgemm/tuning.hpp"
#include "support/devices.hpp"
#include "support/peak_memory.hpp"
#include "support/sanitized.hpp"
#include "support/sparse_matrices.hpp"

namespace quintet::spgemm {
namespace {

// Counts what is usable at one time, and fails at a chosen call.
class counting_source final : public memory_source {
 public:
  std::atomic<std::int64_t> held = 0, peak = 0, calls = 0, reserves = 0, fail_at = -1;

  void* reserve(std::int64_t bytes) override {
    may_fail(bytes);
    ++reserves;
    return memory_source::reserve(bytes);
  }
  void commit(void* data, std::int64_t reserved, std::int64_t from, std::int64_t to) override {
    may_fail(to - from);
    memory_source::commit(data, reserved, from, to);
    add(to - from);
  }
  void* trim(void* data, std::int64_t reserved, std::int64_t committed, std::int64_t keep) override {
    void* place = memory_source::trim(data, reserved, committed, keep);
    add(keep - committed);
    return place;
  }
  void release(void* data, std::int64_t reserved, std::int64_t committed) noexcept override {
    memory_source::release(data, reserved, committed);
    add(-committed);
  }
  void* allocate(std::int64_t bytes, const Device& device) override {
    may_fail(bytes);
    void* data = memory_source::allocate(bytes, device);
    add(bytes);
    return data;
  }
  void deallocate(void* data, std::int64_t bytes, const Device& device) noexcept override {
    memory_source::deallocate(data, bytes, device);
    add(-bytes);
  }

 private:
  void may_fail(std::int64_t bytes) {
    if (calls++ == fail_at) throw OutOfMemory(bytes, "test");
  }
  void add(std::int64_t bytes) {
    held += bytes;
    if (held > peak) peak = held.load();
  }
};

using matrix = csr<double, std::int32_t>;

std::vector<matrix> matrices() {
  std::vector<matrix> all;
  all.push_back(test::rmat_matrix<double, std::int32_t>(7, 14, 1));
  all.push_back(test::block_diagonal<double, std::int32_t>(2, 64, 2));
  all.push_back(test::arrow_matrix<double, std::int32_t>(200, 3));
  all.push_back(test::uniform_matrix<double, std::int32_t>(150, 150, 30, 4));
  return all;
}

TEST(spgemm_memory, any_prediction_gives_the_same_bits) {
  for (const matrix& a : matrices()) {
    const matrix expected = multiply(a.view(), a.view());
    test::on_every_device([&](const Device& device) {
      for (const double scale : {1e-6, 0.01, 0.5, 1.0, 2.0}) {
        if (device != Device::host() && scale != 1e-6 && scale != 0.5) continue;  // one too small, one nearly right
        SCOPED_TRACE(scale);
        report told;
        EXPECT_EQ(multiply(a.view(), a.view(), tuned({.prediction_scale = scale}, {.host_products = 0}), device, &told),
                  expected);
        EXPECT_TRUE(scale > 0.5 || told.retries > 0);
      }
    });
  }
}

TEST(spgemm_memory, tables_of_8_slots_and_arenas_of_0_entries) {
  for (const matrix& a : matrices()) {
    const matrix expected = multiply(a.view(), a.view());
    test::on_every_device([&](const Device& device) {
      report told;
      EXPECT_EQ(multiply(a.view(), a.view(), tuned({.table_size_cap = 8}, {.host_products = 0}), device, &told),
                expected);
      EXPECT_TRUE(told.rows_by_strategy[int(strategy::hash)] == 0 || told.retries > 0);
      EXPECT_EQ(multiply(a.view(), a.view(), tuned({.arena_entries = 0}, {.host_products = 0}), device, &told),
                expected);
      EXPECT_TRUE(device.kind() == device_kind::host || told.retries > 0);
      EXPECT_EQ(multiply(a.view(), a.view(), tuned({.arena_entries = 1000, .table_size_cap = 64}, {.host_products = 0}),
                         device),
                expected);
    });
  }
}

TEST(spgemm_memory, hash_tables_of_the_host_overflow) {
  // Rows of at most a few thousand products over more columns than the cache holds use a table.
  const auto a = test::uniform_matrix<double, std::int32_t>(100, 200, 20, 5);
  const auto b = test::uniform_matrix<double, std::int32_t>(200, 1 << 19, 20, 6);
  report with_tables, without;
  const auto c = multiply(a.view(), b.view(), {}, Device::host(), &with_tables);
  EXPECT_GT(with_tables.rows_by_strategy[int(strategy::hash)], 0);
  EXPECT_EQ(multiply(a.view(), b.view(), tuned({.table_size_cap = 8}), Device::host(), &without), c);
  EXPECT_GT(without.rows_by_strategy[int(strategy::segmented)], 0);
}

TEST(spgemm_memory, host_needs_at_most_1_3_times_the_result) {
  const auto a = test::rmat_matrix<double, std::int32_t>(12, 24, 7);
  for (const double scale : {1e-6, 0.5, 1.0}) {
    counting_source memory;
    report told;
    {
      const auto c =
          multiply(a.view(), a.view(), tuned({.prediction_scale = scale}, {.memory = &memory}), Device::host(), &told);
      EXPECT_GT(c.bytes(), 20'000'000);
      const std::int64_t rows = 24 * a.rows;
      EXPECT_LE(memory.peak, std::int64_t(1.3 * double(c.bytes())) + told.scratch_bytes + rows) << scale;
      EXPECT_LE(told.peak_bytes, memory.peak);
      EXPECT_GE(told.peak_bytes, c.bytes());
      EXPECT_EQ(memory.held, c.bytes());
    }
    EXPECT_EQ(memory.held, 0);
  }
}

// C has 20 MB and more; its first entries are selected while it is computed.
TEST(spgemm_memory, first_entries_of_rows_need_no_whole_product) {
  const auto a = test::rmat_matrix<double, std::int32_t>(12, 24, 7);
  for (const int count : {1, 3}) {
    set_threads(count);
    for (const bool by_value : {false, true}) {
      counting_source memory;
      report told;
      const auto c = multiply_top(a.view(), a.view(), {.count = 10, .by_value = by_value}, {.memory = &memory},
                                  Device::host(), &told);
      EXPECT_LE(memory.peak, 3 * c.bytes() + told.scratch_bytes + 24 * a.rows);
      EXPECT_LE(told.scratch_bytes, count * 2'500'000);
      EXPECT_EQ(memory.held, c.bytes());
    }
  }
  set_threads(0);
}

/// Bytes that multiply.hpp states for a product on the host with so many threads.
std::int64_t stated_bytes(const matrix& a, const matrix& b, const matrix& c, int threads) {
  std::int64_t largest = 8192;  // entries of a chunk: that many, or those of one row
  for (std::int64_t i = 0; i < a.rows; ++i) {
    std::int64_t products = 0;
    for (std::int64_t k = a.row_pointers[i]; k < a.row_pointers[i + 1]; ++k)
      products += b.row_pointers[a.columns[k] + 1] - b.row_pointers[a.columns[k]];
    largest = std::max(largest, std::min(products, b.cols));
  }
  const std::int64_t thread = std::int64_t(9.2 * double(b.cols)) + 4 * 12 * (largest + 64) + 1'000'000;
  return c.bytes() + c.bytes() / 8 + 24 * a.rows + threads * thread;
}

TEST(spgemm_memory, host_needs_what_the_header_says) {
  std::vector<std::pair<matrix, matrix>> problems;
  const auto add = [&](matrix a, matrix b) { problems.emplace_back(std::move(a), std::move(b)); };
  add(test::rmat_matrix<double, std::int32_t>(12, 24, 7), test::rmat_matrix<double, std::int32_t>(12, 24, 7));
  add(test::uniform_matrix<double, std::int32_t>(20'000, 3000, 10, 11),
      test::uniform_matrix<double, std::int32_t>(3000, 400'000, 20, 12));  // hash tables
  add(test::block_diagonal<double, std::int32_t>(60, 64, 13), test::block_diagonal<double, std::int32_t>(60, 64, 13));
  for (const auto& [a, b] : problems)
    for (const int threads : {1, 2, 8}) {
      SCOPED_TRACE(text(b.cols, " columns, ", threads, " threads"));
      set_threads(threads);
      counting_source memory;
      report told;
      const test::peak_memory system;
      const matrix c = multiply(a.view(), b.view(), {.memory = &memory}, Device::host(), &told);
      const std::int64_t measured = system.extra_bytes(), stated = stated_bytes(a, b, c, threads);
      EXPECT_LE(memory.peak, stated);
      EXPECT_LE(told.peak_bytes, memory.peak);
      EXPECT_GE(told.peak_bytes, memory.peak - memory.peak / 50);
      if (!test::sanitized) {
        EXPECT_LE(measured, stated + (8 << 20));  // pages of threads, and the huge pages at the ends of arrays
      }
      set_threads(0);
    }
}

TEST(spgemm_memory, half_a_prediction_moves_nothing) {
  // The result grows where it is: calls of the source are those of a whole prediction, and a few commits.
  const auto a = test::rmat_matrix<double, std::int32_t>(11, 16, 14);
  set_threads(1);
  counting_source whole, half;
  report told_whole, told_half;
  const matrix c = multiply(a.view(), a.view(), {.memory = &whole}, Device::host(), &told_whole);
  EXPECT_EQ(
      multiply(a.view(), a.view(), tuned({.prediction_scale = 0.5}, {.memory = &half}), Device::host(), &told_half), c);
  set_threads(0);
  EXPECT_EQ(told_whole.retries, 0);
  EXPECT_GT(told_half.retries, 0);
  EXPECT_LE(told_half.retries, 7);  // (9 / 8)^7 > 2
  // The last chunks of a window without room for their bound are computed in the four buffers, two arrays each.
  EXPECT_LE(std::abs(half.reserves - whole.reserves), 8);
  EXPECT_EQ(told_half.products_by_strategy, told_whole.products_by_strategy);
}

TEST(spgemm_memory, more_threads_than_processors_do_no_work_twice) {
  const auto a = test::rmat_matrix<double, std::int32_t>(12, 16, 15);
  report one;
  set_threads(1);
  const matrix c = multiply(a.view(), a.view(), {}, Device::host(), &one);
  for (const int threads : {2, 8, 32}) {
    SCOPED_TRACE(threads);
    set_threads(threads);
    report told;
    EXPECT_EQ(multiply(a.view(), a.view(), {}, Device::host(), &told), c);
    EXPECT_EQ(std::reduce(told.products_by_strategy.begin(), told.products_by_strategy.end()), told.products);
    EXPECT_EQ(std::reduce(told.rows_by_strategy.begin(), told.rows_by_strategy.end()), a.rows);
    EXPECT_EQ(told.retries, one.retries);
    EXPECT_LE(told.scratch_bytes,
              threads * one.scratch_bytes + threads * 4 * 12 * (std::max<std::int64_t>(8192, a.cols) + 64));
  }
  set_threads(0);
}

TEST(spgemm_memory, devices_need_at_most_2_5_times_the_result) {
  const auto a = test::rmat_matrix<double, std::int32_t>(8, 12, 8);
  for (const double scale : {1e-6, 0.5, 1.0}) {
    counting_source memory;
    std::int64_t on_host = 0;  // the copy that the caller gets
    report told;
    const auto c =
        multiply(a.view(), a.view(), tuned({.prediction_scale = scale}, {.host_products = 0, .memory = &memory}),
                 Device::emulated(), &told);
    on_host = c.bytes();
    EXPECT_LE(memory.peak - on_host, std::int64_t(2.5 * double(c.bytes())) + 64 * a.rows) << scale;
  }
}

// Fails every allocation in turn: each is an error, and nothing is kept.
template <class Run>
void expect_failures(const Run& run) {
  counting_source memory;
  run(memory);
  EXPECT_EQ(memory.held, 0);
  const std::int64_t calls = memory.calls;
  EXPECT_GT(calls, 5);
  for (std::int64_t n = 0; n < calls; ++n) {
    memory.calls = 0;
    memory.fail_at = n;
    EXPECT_THROW(run(memory), OutOfMemory) << n;
    EXPECT_EQ(memory.held, 0) << n;
  }
}

TEST(spgemm_memory, a_failing_allocation_is_an_error_and_leaks_nothing) {
  const auto a = test::rmat_matrix<double, std::int32_t>(5, 6, 9);
  set_threads(1);  // with several, how often the result grows depends on who is first
  for (const Device& device : {Device::host(), Device::emulated()}) {
    SCOPED_TRACE(device.name());
    const auto settings = [&](counting_source& memory) {
      return tuned({.prediction_scale = 1e-6}, {.host_products = 0, .memory = &memory});
    };
    expect_failures([&](counting_source& memory) { multiply(a.view(), a.view(), settings(memory), device); });
    expect_failures([&](counting_source& memory) {
      multiply_masked<plus_times, complement_mask>(a.view(), a.view(), a.view(), settings(memory), device);
    });
    expect_failures([&](counting_source& memory) {
      multiply_masked<plus_times, structural_mask>(a.view(), a.view(), a.view(), settings(memory), device);
    });
    expect_failures([&](counting_source& memory) {
      multiply_in_blocks<plus_times, double, std::int32_t>(
          a.view(), a.view(), 3000, [](result_block<double, std::int32_t>&&) { return true; }, settings(memory),
          device);
    });
  }
  const auto there = upload(a.view(), Device::emulated());
  expect_failures(
      [&](counting_source& memory) { multiply(there, there, tuned({.prediction_scale = 1e-6}, {.memory = &memory})); });
  expect_failures([&](counting_source& memory) { transpose(a.view(), memory); });
  set_threads(0);
}

TEST(spgemm_memory, of_several_workers_that_fail_none_waits_for_another) {
  const auto a = test::rmat_matrix<double, std::int32_t>(10, 10, 10);  // enough products for several
  const matrix expected = multiply(a.view(), a.view());
  set_threads(4);
  std::int64_t failures = 0;
  for (std::int64_t n = 0; n < 60; ++n) {
    counting_source memory;
    memory.fail_at = n;
    try {
      EXPECT_EQ(multiply(a.view(), a.view(), tuned({.prediction_scale = 1e-6}, {.memory = &memory})), expected);
    } catch (const OutOfMemory&) {
      ++failures;
    }
    EXPECT_EQ(memory.held, 0) << n;
  }
  EXPECT_GT(failures, 10);
  set_threads(0);
}

// A block that shrinks may move, and then begin elsewhere in what the C library gave: with one that moves them (the
// sanitizers' does) some of these do.
// Bytes of addresses of this process; 0 where the system does not say.
std::int64_t address_bytes() {
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * ::sysconf(_SC_PAGESIZE);
}

// Sanitizers reserve terabytes, and see the blocks of the C library only.
bool has_mappings() { return address_bytes() > 0 && address_bytes() < std::int64_t(1) << 40; }

TEST(memory_source, large_blocks_are_used_again) {
  if (!has_mappings()) GTEST_SKIP() << "mappings are not used here";
  memory_source& source = memory_source::standard();
  constexpr std::int64_t bytes = std::int64_t(48) << 20;  // systems that cannot offer pages keep 64 MB
  void* const first = source.reserve(bytes);
  source.commit(first, bytes, 0, bytes);
  std::memset(first, 1, std::size_t(bytes));
  source.release(first, bytes, bytes);
  for (int n = 0; n < 3; ++n) {
    auto* const again = static_cast<char*>(source.reserve(bytes - 4096 * n));
    EXPECT_EQ(again, first) << n;
    source.commit(again, bytes - 4096 * n, 0, bytes - 4096 * n);
    std::memset(again, n, std::size_t(bytes - 4096 * n));
    source.release(again, bytes, bytes);
  }
}

// An emulator of another processor may take a limit and not keep it.
bool keeps_address_limit() {
  constexpr std::size_t bytes = std::size_t(1) << 40;
  void* const place = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) return true;
  ::munmap(place, bytes);
  return false;
}

TEST(memory_source, what_is_kept_goes_back_when_addresses_run_short) {
  if (!has_mappings()) GTEST_SKIP() << "mappings are not used here";
  memory_source& source = memory_source::standard();
  constexpr std::int64_t megabyte = std::int64_t(1) << 20;
  void* const kept = source.reserve(256 * megabyte);
  source.commit(kept, 256 * megabyte, 0, 64 * megabyte);
  source.release(kept, 256 * megabyte, 64 * megabyte);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = rlim_t(address_bytes() + 64 * megabyte);
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
  if (!keeps_address_limit()) {
    ::setrlimit(RLIMIT_AS, &before);
    GTEST_SKIP() << "the system does not keep RLIMIT_AS";
  }
  void* larger = nullptr;
  std::string error;
  try {
    larger = source.reserve(280 * megabyte);
  } catch (const OutOfMemory& e) {
    error = e.what();
  }
  EXPECT_THROW(source.reserve(std::int64_t(1) << 40), OutOfMemory);
  ::setrlimit(RLIMIT_AS, &before);
  ASSERT_NE(larger, nullptr) << error;
  source.release(larger, 280 * megabyte, 0);
}

TEST(memory_source, a_trimmed_block_keeps_its_elements) {
  memory_source& source = memory_source::standard();
  for (std::int64_t n = 0; n < 20000; ++n) {
    const std::int64_t kept = 16 + n % 61 * 16, reserved = kept + 512;
    auto* data = static_cast<std::int64_t*>(source.reserve(reserved));
    source.commit(data, reserved, 0, reserved);
    std::iota(data, data + reserved / 8, n);
    data = static_cast<std::int64_t*>(source.trim(data, reserved, reserved, kept));
    for (std::int64_t i = 0; i < kept / 8; ++i) ASSERT_EQ(data[i], n + i) << "block " << n;
    source.release(data, kept, kept);
  }
}

}  // namespace
}  // namespace quintet::spgemm
