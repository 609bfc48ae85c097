#include "quintet/c/core.h"

#include <bit>
#include <cmath>
#include <exception>
#include <limits>
#include <new>
#include <stdexcept>
#include <type_traits>

#include "c/support.hpp"
#include "quintet/core/build_info.hpp"

namespace quintet::c {

namespace {

thread_local std::string last_message;
// What to say when there is no memory for a message.
thread_local const char* last_error = "";

quintet_status remember(quintet_status status, const char* message) noexcept {
  try {
    last_message = message;
    last_error = last_message.c_str();
  } catch (...) {
    last_error = "out of memory on the host, and no memory for a longer message";
  }
  return status;
}

}  // namespace

quintet_status report_processor(const char* sentence) noexcept {
  last_error = sentence;  // without the string: its functions may be those of another file, compiled for more
  return QUINTET_DEVICE_ERROR;
}

quintet_status report_exception() noexcept {
  try {
    throw;
  } catch (const InvalidArgument& e) {
    return remember(QUINTET_INVALID_ARGUMENT, e.what());
  } catch (const FileError& e) {
    return remember(QUINTET_FILE_ERROR, e.what());
  } catch (const OutOfMemory& e) {
    return remember(QUINTET_OUT_OF_MEMORY, e.what());
  } catch (const DeviceError& e) {
    return remember(QUINTET_DEVICE_ERROR, e.what());
  } catch (const Cancelled& e) {
    return remember(QUINTET_CANCELLED, e.what());
  } catch (const std::bad_alloc&) {
    return remember(QUINTET_OUT_OF_MEMORY, "out of memory on the host");
  } catch (const std::length_error&) {  // a vector of more elements than addresses
    return remember(QUINTET_OUT_OF_MEMORY, "out of memory: the result has more elements than can be addressed");
  } catch (const std::exception& e) {
    return remember(QUINTET_INTERNAL_ERROR, e.what());
  } catch (...) {
    return remember(QUINTET_INTERNAL_ERROR, "an unknown exception");
  }
}

namespace {

void check_bytes(std::int64_t elements, std::int64_t stride, std::int64_t bytes, std::string_view name) {
  if (quintet::detail::bytes_of(elements, stride, 1, bytes) < 0)
    throw InvalidArgument(
        text(name, " must have at most 2^63 - 1 bytes (", elements, " x ", stride, " elements of ", bytes, " bytes)"));
}

}  // namespace

void check_array(const void* data, std::int64_t count, std::int64_t bytes, std::string_view name) {
  require_argument(count >= 0, text("number of elements of ", name), count, ">= 0");
  check_bytes(count, 1, bytes, name);
  if (data == nullptr && count > 0) throw InvalidArgument(text(name, " must not be null (", count, " elements)"));
}

void check_matrix(const void* data, std::int64_t rows, std::int64_t cols, std::int64_t stride, std::int64_t bytes,
                  std::string_view name) {
  require_argument(rows >= 0, text("rows of ", name), rows, ">= 0");
  require_argument(cols >= 0, text("columns of ", name), cols, ">= 0");
  require_argument(stride >= cols, text("stride of ", name), stride, text(">= its columns=", cols));
  check_bytes(rows, stride, bytes, name);
  if (data == nullptr && rows > 0 && cols > 0)
    throw InvalidArgument(text(name, " must not be null (", rows, " x ", cols, ")"));
}

scalar_type storage_type_of(quintet_type type) {
  if (type < QUINTET_FLOAT || type > QUINTET_BFLOAT16)
    throw InvalidArgument(text(
        "type must be QUINTET_FLOAT (1), QUINTET_DOUBLE (2), QUINTET_HALF (3) or QUINTET_BFLOAT16 (4) (type=", type,
        ")"));
  return static_cast<scalar_type>(type);
}

scalar_type real_type(quintet_type type) {
  if (type != QUINTET_FLOAT && type != QUINTET_DOUBLE)
    throw InvalidArgument(text("type must be QUINTET_FLOAT (1) or QUINTET_DOUBLE (2) (type=", type, ")"));
  return static_cast<scalar_type>(type);
}

any_matrix any_input(const void* data, scalar_type type, std::int64_t rows, std::int64_t cols, std::int64_t stride,
                     std::string_view name) {
  check_matrix(data, rows, cols, stride, element_bytes(type), name);
  return {data, type, rows, cols, stride};
}
any_output_matrix any_output(void* data, scalar_type type, std::int64_t rows, std::int64_t cols, std::int64_t stride,
                             std::string_view name) {
  check_matrix(data, rows, cols, stride, element_bytes(type), name);
  return {data, type, rows, cols, stride};
}
any_vector any_input(const void* data, scalar_type type, std::int64_t count, std::string_view name) {
  check_array(data, count, element_bytes(type), name);
  return {data, type, count};
}
any_output_vector any_output(void* data, scalar_type type, std::int64_t count, std::string_view name) {
  check_array(data, count, element_bytes(type), name);
  return {data, type, count};
}
any_vector any_optional(const void* data, scalar_type type, std::int64_t count, std::string_view name) {
  return data == nullptr ? any_vector(nullptr, type, 0) : any_input(data, type, count, name);
}

static_assert(int(scalar_type::float32) == QUINTET_FLOAT && int(scalar_type::float64) == QUINTET_DOUBLE &&
              int(scalar_type::float16) == QUINTET_HALF && int(scalar_type::bfloat16) == QUINTET_BFLOAT16);

Device chosen_device(const char* device) { return Device::parse(device == nullptr ? "auto" : device); }

progress_callback passed_on(quintet_progress report, void* user) {
  if (report == nullptr) return {};
  return [report, user](std::string_view stage, double fraction) {
    return report(std::string(stage).c_str(), fraction, user) != 0;
  };
}

void check_struct_size(std::size_t size, std::size_t known, std::string_view name) {
  require_argument(size >= sizeof(std::size_t) && size <= known, name, size,
                   text("the size of the struct, at most ", known, " in this version"));
}

namespace {

quintet_device_info described(const Device& device) {
  quintet_device_info info{};
  info.kind = static_cast<quintet_device_kind>(device.kind());
  info.index = device.index();
  info.memory_bytes = device.memory_bytes();
  const std::string chosen_by = device.kind() == device_kind::host       ? "host"
                                : device.kind() == device_kind::emulated ? "emulated"
                                                                         : std::to_string(device.index());
  chosen_by.copy(info.device, sizeof(info.device) - 1);
  device.name().copy(info.name, sizeof(info.name) - 1);
  return info;
}

// The float next to `value` whose last bit says that it is not exact: rounding it to a shorter type gives what rounding
// `value` itself would.
float rounded_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  if (double(nearest) == value || std::isnan(value) || (std::bit_cast<std::uint32_t>(nearest) & 1u) != 0)
    return nearest;
  const float beyond = std::numeric_limits<float>::infinity();
  return std::nextafter(nearest, value > double(nearest) ? beyond : -beyond);
}

template <class From, class To>
void convert(const void* from, void* to, std::int64_t count) {
  const auto source = input_array<From>(from, count, "from");
  const auto target = output_array<To>(to, count, "to");
  for (std::size_t i = 0; i < source.size(); ++i) {
    if constexpr (std::is_same_v<From, double> && sizeof(To) == 2)
      target[i] = To(rounded_to_odd(source[i]));
    else
      target[i] = To(static_cast<accumulator_t<To>>(static_cast<accumulator_t<From>>(source[i])));
  }
}

}  // namespace

}  // namespace quintet::c

using namespace quintet;
using namespace quintet::c;

extern "C" {

const char* quintet_status_name(quintet_status status) noexcept {
  switch (status) {
    case QUINTET_OK:
      return "ok";
    case QUINTET_INVALID_ARGUMENT:
      return "invalid argument";
    case QUINTET_OUT_OF_MEMORY:
      return "out of memory";
    case QUINTET_DEVICE_ERROR:
      return "device error";
    case QUINTET_CANCELLED:
      return "cancelled";
    case QUINTET_FILE_ERROR:
      return "file error";
    case QUINTET_INTERNAL_ERROR:
      return "internal error";
    default:
      return "unknown status";
  }
}

const char* quintet_last_error(void) noexcept { return last_error; }

const char* quintet_version(void) noexcept { return build_info().version.data(); }

const char* quintet_build_info(void) noexcept {
  try {
    static const std::string summary = build_info().summary();
    return summary.c_str();
  } catch (...) {
    return quintet_version();
  }
}

const char* quintet_offload_targets(void) noexcept { return build_info().offload_targets.data(); }

quintet_status quintet_convert(const void* from, quintet_type from_type, void* to, quintet_type to_type,
                               int64_t count) noexcept {
  return guarded([&] {
    with_storage(storage_type_of(from_type), [&]<class From> {
      with_storage(storage_type_of(to_type), [&]<class To> { convert<From, To>(from, to, count); });
    });
  });
}

quintet_status quintet_set_threads(int32_t count) noexcept {
  return guarded([&] { set_threads(count); });
}

// One thread, and no device but the host, where the processor is not the right one: these have no status.
int32_t quintet_threads(void) noexcept { return quintet::detail::missing_instructions() == nullptr ? threads() : 1; }

int32_t quintet_device_count(void) noexcept {
  return quintet::detail::missing_instructions() == nullptr ? 1 + Device::count() : 1;
}

quintet_status quintet_device_at(int32_t number, quintet_device_info* info) noexcept {
  return guarded([&] {
    const int32_t devices = quintet_device_count();
    require_argument(number >= 0 && number < devices, "number", number, text("in [0, ", devices, ")"));
    const Device device = number == 0 ? Device::host() : Device::offload(number - 1);
    write_struct(described(device), info, required(info, "info").size, "info->size");
  });
}

quintet_status quintet_device_find(const char* device, quintet_device_info* info) noexcept {
  return guarded(
      [&] { write_struct(described(chosen_device(device)), info, required(info, "info").size, "info->size"); });
}

}  // extern "C"
