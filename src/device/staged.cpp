#include "device/staged.hpp"

namespace quintet::device {

namespace {

std::string place_of(const located& argument) {
  return text(argument.name, " is in the memory of device ", argument.device.spelling());
}

}  // namespace

Device run_device(const Device& given, std::initializer_list<located> arguments) {
  const located* found = nullptr;
  for (const located& argument : arguments) {
    if (argument.device.kind() == device_kind::host) continue;
    if (found != nullptr && found->device != argument.device)
      throw InvalidArgument(
          text("arguments must be on one device or on the host (", place_of(*found), ", ", place_of(argument), ")"));
    if (found == nullptr) found = &argument;
  }
  if (found == nullptr || found->device == given) return given;
  if (!given.automatic())
    throw InvalidArgument(
        text("device must be where the arguments are (device=", given.spelling(), ", ", place_of(*found), ")"));
  return found->device;
}

bool detail::is_dense(dimension a, dimension b, dimension c) {
  if (a.extent == 0 || b.extent == 0 || c.extent == 0) return true;
  // Strides of single elements say nothing. Ascending, each stride is what the indices below it take.
  dimension d[3] = {a, b, c};
  for (dimension& one : d)
    if (one.extent == 1) one.stride = 0;
  std::sort(d, d + 3, [](dimension x, dimension y) { return x.stride < y.stride; });
  std::int64_t filled = 1;
  for (const dimension& one : d) {
    if (one.extent > 1 && one.stride != filled) return false;
    filled *= one.extent;
  }
  return true;
}

}  // namespace quintet::device
