#include "quintet/device/buffer.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <type_traits>

#include "support/devices.hpp"
#include "support/expect_error.hpp"

namespace quintet {
namespace {

using numbers = std::vector<int>;
using test::on_every_device;

static_assert(std::is_nothrow_move_constructible_v<Buffer<int>> && std::is_nothrow_move_assignable_v<Buffer<int>>);
static_assert(!std::is_copy_constructible_v<Buffer<int>> && !std::is_copy_assignable_v<Buffer<int>>);

TEST(buffer, values_go_there_and_back) {
  on_every_device([](const Device& device) {
    const Buffer<int> buffer(numbers{3, 1, 4, 1, 5}, device);
    EXPECT_EQ(buffer.size(), 5);
    EXPECT_EQ(buffer.bytes(), 20);
    EXPECT_EQ(buffer.device(), device);
    EXPECT_EQ(buffer.to_vector(), (numbers{3, 1, 4, 1, 5}));
  });
}

TEST(buffer, parts_can_be_copied) {
  on_every_device([](const Device& device) {
    Buffer<int> buffer(numbers{0, 1, 2, 3, 4, 5}, device);
    const int values[] = {70, 80};
    buffer.copy_from_host(values, 2, 3);
    EXPECT_EQ(buffer.to_vector(), (numbers{0, 1, 2, 70, 80, 5}));
    int part[3] = {};
    buffer.copy_to_host(part, 3, 2);
    EXPECT_EQ(numbers(part, part + 3), (numbers{2, 70, 80}));
    buffer.copy_from_host(nullptr, 0, 6);
    buffer.copy_to_host(nullptr, 0);
    EXPECT_EQ(buffer.to_vector(), (numbers{0, 1, 2, 70, 80, 5}));
  });
}

TEST(buffer, moves_and_leaves_nothing_behind) {
  on_every_device([](const Device& device) {
    Buffer<int> first(numbers{1, 2, 3}, device);
    const int* data = first.data();
    Buffer<int> second(std::move(first));
    EXPECT_EQ(second.data(), data);
    EXPECT_EQ(first.data(), nullptr);
    EXPECT_EQ(first.size(), 0);
    Buffer<int> third(numbers{9}, device);
    third = std::move(second);
    EXPECT_EQ(third.to_vector(), (numbers{1, 2, 3}));
    EXPECT_EQ(second.size(), 0);
    EXPECT_EQ(second.data(), nullptr);
  });
}

TEST(buffer, nothing_needs_no_memory) {
  on_every_device([](const Device& device) {
    const Buffer<double> buffer(0, device);
    EXPECT_EQ(buffer.data(), nullptr);
    EXPECT_TRUE(buffer.to_vector().empty());
  });
  EXPECT_EQ(Buffer<double>().size(), 0);
}

TEST(buffer, host_memory_is_aligned) {
  for (const std::int64_t size : {1, 3, 1000})
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(Buffer<char>(size).data()) % 64, 0u);
}

TEST(buffer, ranges_outside_are_refused) {
  on_every_device([](const Device& device) {
    Buffer<int> buffer(4, device);
    int host[8] = {};
    constexpr std::int64_t max = std::numeric_limits<std::int64_t>::max();
    expect_invalid([&] { buffer.copy_from_host(host, 5); }, "range must lie in the buffer (offset=0, count=5, size=4)");
    expect_invalid([&] { buffer.copy_from_host(nullptr, 1); }, "host must not be null (count=1)");
    expect_invalid([&] { buffer.copy_to_host(host, 2, 3); },
                   "range must lie in the buffer (offset=3, count=2, size=4)");
    expect_invalid([&] { buffer.copy_to_host(host, -1); }, "(offset=0, count=-1, size=4)");
    expect_invalid([&] { buffer.copy_to_host(host, 1, -1); }, "(offset=-1, count=1, size=4)");
    expect_invalid([&] { buffer.copy_to_host(host, max, max); }, "range must lie in the buffer");
    expect_invalid([&] { buffer.copy_to_host(host, 0, 5); }, "(offset=5, count=0, size=4)");
  });
}

TEST(buffer, sizes_that_cannot_be_are_refused) {
  on_every_device([](const Device& device) {
    expect_invalid([&] { Buffer<int>(-1, device); }, "size must be >= 0 (size=-1)");
    expect_invalid([&] { Buffer<double>(std::numeric_limits<std::int64_t>::max(), device); },
                   "size must be small enough to count its bytes (size=9223372036854775807)");
  });
}

TEST(buffer, too_much_memory_is_an_error_that_states_the_bytes_and_the_device) {
  on_every_device([](const Device& device) {
    try {
      const Buffer<double> buffer(std::int64_t(1) << 57, device);
      ADD_FAILURE() << "2^60 bytes were given";
    } catch (const OutOfMemory& error) {
      EXPECT_EQ(error.bytes(), std::int64_t(1) << 60);
      const std::string words = error.what();
      EXPECT_NE(words.find("1152921504606846976"), std::string::npos) << words;
      EXPECT_NE(words.find(device.name()), std::string::npos) << words;
    }
  });
}

}  // namespace
}  // namespace quintet
