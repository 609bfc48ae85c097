// quintet-devices: the processors that --device can choose.
#include <iomanip>
#include <sstream>

#include "quintet/device/device.hpp"
#include "support/driver.hpp"

namespace {

using quintet::Device;
using quintet::device_kind;

// What to give to --device.
std::string option_value(const Device& device) {
  return device.kind() == device_kind::offload ? std::to_string(device.index())
                                               : quintet::driver::kind_name(device.kind());
}

std::string memory(const Device& device) {
  if (device.memory_bytes() == 0) return "unknown";
  std::ostringstream out;
  out << std::fixed << std::setprecision(1) << double(device.memory_bytes()) / double(1 << 30) << " GiB";
  return out.str();
}

// Host threads that it runs on; an offload device has its own.
std::string host_threads(const Device& device) {
  return device.shares_host_memory() ? std::to_string(quintet::threads()) : "-";
}

void list_devices(quintet::driver::session& session) {
  std::vector<Device> devices = Device::all();
  devices.insert(devices.begin() + 1, Device::emulated());
  std::ostream& out = session.say();
  out << std::left << std::setw(11) << "--device" << std::right << std::setw(11) << "memory" << std::setw(9)
      << "threads"
      << "  name\n";
  auto results = nlohmann::ordered_json::array();
  for (const Device& device : devices) {
    const bool chosen = device == session.device();
    out << (chosen ? "* " : "  ") << std::left << std::setw(9) << option_value(device) << std::right << std::setw(11)
        << memory(device) << std::setw(9) << host_threads(device) << "  " << device.name()
        << (device.kind() == device_kind::emulated ? " (for tests, slow)" : "") << "\n";
    nlohmann::ordered_json entry{{"device", option_value(device)},
                                 {"kind", quintet::driver::kind_name(device.kind())},
                                 {"name", device.name()},
                                 {"memory_bytes", device.memory_bytes()},
                                 {"for_tests", device.kind() == device_kind::emulated},
                                 {"chosen", chosen}};
    if (device.shares_host_memory()) entry["threads"] = quintet::threads();
    results.push_back(entry);
  }
  out << "* chosen by --device " << session.line().common.device << "\n";
  session.result("devices", results);
}

}  // namespace

int main(int argc, char** argv) {
  return quintet::driver::run_driver(
      argc, argv,
      {.name = "quintet-devices",
       .summary = "lists the processors that the programs can use; as several ranks, those of the first rank.",
       .example = "quintet-devices --json devices.json",
       .distributed = true},
      boost::program_options::options_description("Options"), list_devices);
}
