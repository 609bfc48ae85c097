// Version and targets of this copy of the library.
#pragma once

#include <string>
#include <string_view>

#include "quintet/core/compiler.hpp"

namespace quintet {

/// Facts fixed when the library was configured. The texts live as long as the program.
struct build_information {
  std::string_view version;            ///< "0.1.0"
  std::string_view git_hash;           ///< abbreviated commit that was configured; empty outside git
  std::string_view compiler;           ///< "Clang 19.1.7"
  std::string_view build_type;         ///< "Release"
  std::string_view offload_targets;    ///< "sm_90,gfx90a"; "none" for a library that runs on the host only
  std::string_view host_architecture;  ///< value of -march, "default" if none was given
  std::string_view sanitizers;         ///< "address,undefined"; empty in a normal build

  /// All of it in one line (O(length) time and memory): "quintet 0.1.0 (1a2b3c4), Clang 19.1.7, Release, offload
  /// targets: none".
  std::string summary() const;
};

/// The facts about the library that this program is linked to. O(1); the reference is valid as long as the program.
const build_information& build_info() noexcept;

}  // namespace quintet
