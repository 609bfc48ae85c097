#include "drivers/driver_run.hpp"
#include "quintet/device/device.hpp"

namespace quintet {
namespace {

class devices_driver : public test::driver_run {
 protected:
  devices_driver() : driver_run("devices") {}
};

TEST_F(devices_driver, common_options) { expect_common_options({}, "float or double"); }

TEST_F(devices_driver, lists_every_device) {
  const std::string out = run_well({"--json", "devices.json"});
  QUINTET_EXPECT_CONTAINS(out, Device::host().name());
  QUINTET_EXPECT_CONTAINS(out, "(for tests, slow)");
  const auto devices = json("devices.json")["results"]["devices"];
  ASSERT_EQ(devices.size(), Device::all().size() + 1) << "the emulated one is listed as well";
  EXPECT_EQ(devices[0]["device"], "host");
  EXPECT_EQ(devices[0]["name"], Device::host().name());
  EXPECT_EQ(devices[0]["memory_bytes"], Device::host().memory_bytes());
  EXPECT_EQ(devices[1]["kind"], "emulated");
  EXPECT_TRUE(devices[1]["for_tests"]);
}

TEST_F(devices_driver, marks_the_chosen_one) {
  run_well({"--device", "emulated", "--json", "devices.json"});
  const auto devices = json("devices.json")["results"]["devices"];
  EXPECT_FALSE(devices[0]["chosen"]);
  EXPECT_TRUE(devices[1]["chosen"]);
}

}  // namespace
}  // namespace quintet
