#include "quintet/core/error.hpp"

namespace quintet {

#ifdef _GLIBCXX_DEBUG
const char detail::library_compiled_with_GLIBCXX_DEBUG = 0;
#endif

FileError::FileError(std::string_view path, std::string_view reason) : Error(text(path, ": ", reason)) {}

FileError::FileError(std::string_view path, std::int64_t line, std::string_view reason)
    : Error(text(path, ":", line, ": ", reason)) {}

OutOfMemory::OutOfMemory(std::int64_t bytes, std::string_view device)
    : DeviceError(text("out of memory: ", bytes, " bytes could not be allocated on ", device)), bytes_(bytes) {}

Cancelled::Cancelled(std::string_view stage) : Error(text("cancelled by the caller in stage \"", stage, "\"")) {}

}  // namespace quintet
