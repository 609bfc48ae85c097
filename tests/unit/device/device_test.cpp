#include "quintet/device/device.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "quintet/device/thread_scope.hpp"
#include "support/expect_error.hpp"

namespace quintet {
namespace {

template <class Call>
std::string device_error(Call call) {
  try {
    call();
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "no DeviceError";
}

TEST(device, the_default_is_the_host) {
  EXPECT_EQ(Device(), Device::host());
  EXPECT_EQ(Device().kind(), device_kind::host);
  EXPECT_EQ(Device().index(), 0);
  EXPECT_NE(Device::host(), Device::emulated());
}

// Set by tests that would otherwise pass by skipping what needs a device.
TEST(device, there_are_as_many_as_are_expected) {
  const char* expected = std::getenv("QUINTET_EXPECTED_DEVICES");
  if (expected == nullptr) GTEST_SKIP() << "QUINTET_EXPECTED_DEVICES is not set";
  EXPECT_EQ(std::to_string(Device::count()), expected);
}

TEST(device, all_is_the_host_and_then_the_offload_devices) {
  const std::vector<Device> all = Device::all();
  ASSERT_EQ(int(all.size()), 1 + Device::count());
  EXPECT_EQ(all[0], Device::host());
  for (int i = 0; i < Device::count(); ++i) {
    EXPECT_EQ(all[i + 1], Device::offload(i));
    EXPECT_EQ(all[i + 1].kind(), device_kind::offload);
    EXPECT_EQ(all[i + 1].index(), i);
    EXPECT_FALSE(all[i + 1].shares_host_memory());
  }
}

TEST(device, best_is_never_an_emulation) {
  const Device best = Device::best();
  EXPECT_NE(best.kind(), device_kind::emulated);
  EXPECT_TRUE(Device::count() > 0 || best == Device::host());
  // Who names a device gets it; a suggestion may be declined.
  EXPECT_TRUE(best.automatic() && Device::parse("auto").automatic());
  EXPECT_FALSE(Device::host().automatic() || Device::parse("host").automatic() || Device::emulated().automatic());
}

TEST(device, every_device_has_a_name_and_memory) {
  EXPECT_FALSE(Device::host().name().empty());
  EXPECT_NE(Device::emulated().name().find("emulated"), std::string::npos);
  EXPECT_GT(Device::host().memory_bytes(), 1 << 20);
  EXPECT_EQ(Device::emulated().memory_bytes(), Device::host().memory_bytes());
  for (const Device& device : Device::all()) {
    EXPECT_FALSE(device.name().empty());
    EXPECT_GE(device.memory_bytes(), 0);
  }
  EXPECT_TRUE(Device::host().shares_host_memory());
  EXPECT_TRUE(Device::emulated().shares_host_memory());
}

TEST(device, an_absent_device_is_an_error_that_says_what_there_is) {
  const std::string words = device_error([] { Device::offload(Device::count()); });
  EXPECT_NE(words.find("device " + std::to_string(Device::count()) + " is not available: "), std::string::npos)
      << words;
  const std::string last = "devices here are 0 to " + std::to_string(Device::count() - 1);
  const std::vector<std::string> reasons =
      Device::count() > 0 ? std::vector<std::string>{last} : std::vector<std::string>{"host only", "no offload device"};
  EXPECT_TRUE(std::any_of(reasons.begin(), reasons.end(), [&](const std::string& reason) {
    return words.find(reason) != std::string::npos;
  })) << words;
  EXPECT_NE(device_error([] { Device::offload(-1); }).find("device -1 is not available"), std::string::npos);
}

TEST(device, parse) {
  EXPECT_EQ(Device::parse("auto"), Device::best());
  EXPECT_EQ(Device::parse("host"), Device::host());
  EXPECT_EQ(Device::parse("emulated"), Device::emulated());
  for (int i = 0; i < Device::count(); ++i) {
    EXPECT_EQ(Device::parse(std::to_string(i)), Device::offload(i));
    EXPECT_EQ(Device::parse("offload:" + std::to_string(i)), Device::offload(i));
  }
  for (const Device& device : Device::all()) EXPECT_EQ(Device::parse(device.spelling()), device);
  EXPECT_EQ(Device::emulated().spelling(), "emulated");
  const std::string absent = std::to_string(Device::count());
  EXPECT_NE(device_error([&] { Device::parse(absent); }).find("device " + absent), std::string::npos);
  for (const char* bad :
       {"", " ", "gpu", "Host", "-1", "1x", "0 ", "1.5", "99999999999", "offload:", "offload:-1", "offload:host"})
    expect_invalid([&] { Device::parse(bad); },
                   "device must be auto, host, emulated, or an offload device as NUMBER or offload:NUMBER (device=" +
                       std::string(bad) + ")");
}

TEST(device, threads_can_be_set_and_given_back) {
  const int before = threads();
  EXPECT_GE(before, 1);
  set_threads(3);
  EXPECT_EQ(threads(), 3);
  expect_invalid([] { set_threads(-1); }, "threads must be >= 0 (threads=-1)");
  EXPECT_EQ(threads(), 3);
  set_threads(0);
  EXPECT_EQ(threads(), before);
}

TEST(device, a_scope_sets_threads_of_its_own_thread) {
  const int before = threads();
  const thread_scope three(3);
  EXPECT_EQ(threads(), 3);
  {
    const thread_scope one(1);
    EXPECT_EQ(threads(), 1);
    const thread_scope none(0);
    EXPECT_EQ(threads(), before);
  }
  EXPECT_EQ(threads(), 3);
  std::thread([&] { EXPECT_EQ(threads(), before); }).join();
  expect_invalid([] { const thread_scope wrong(-1); }, "threads must be >= 0 (threads=-1)");
  EXPECT_EQ(threads(), 3);
}

}  // namespace
}  // namespace quintet
