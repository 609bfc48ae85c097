#include "device/staged.hpp"

#include <algorithm>

namespace quintet::device {

namespace {

std::string place_of(const located& argument) {
  return text(argument.name, " is in the memory of device ", argument.device.spelling());
}

}  // namespace

Device run_device(const Device& requested_device, std::initializer_list<located> arguments) {
  const located* owner = nullptr;
  for (const located& argument : arguments) {
    if (argument.device.kind() == device_kind::host) continue;
    if (owner != nullptr && owner->device != argument.device)
      throw InvalidArgument(
          text("arguments must be on one device or on the host (", place_of(*owner), ", ", place_of(argument), ")"));
    if (owner == nullptr) owner = &argument;
  }
  if (owner == nullptr || owner->device == requested_device) return requested_device;
  if (!requested_device.automatic())
    throw InvalidArgument(text("device must be where the arguments are (device=", requested_device.spelling(), ", ",
                               place_of(*owner), ")"));
  return owner->device;
}

bool detail::is_dense(dimension a, dimension b, dimension c) {
  if (a.extent == 0 || b.extent == 0 || c.extent == 0) return true;
  // Strides of single elements say nothing. Ascending, each stride is what the indices below it take.
  dimension d[3] = {a, b, c};
  for (dimension& axis : d)
    if (axis.extent == 1) axis.stride = 0;
  std::sort(d, d + 3, [](dimension x, dimension y) { return x.stride < y.stride; });
  std::int64_t filled = 1;
  for (const dimension& axis : d) {
    if (axis.extent > 1 && axis.stride != filled) return false;
    filled *= axis.extent;
  }
  return true;
}

}  // namespace quintet::device
