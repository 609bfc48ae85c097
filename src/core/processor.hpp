// Whether this processor has the instructions that the library was compiled for.
//
// -march reaches all of the library but the sources of the target quintet_baseline, which are compiled for every
// x86-64. Before main(), or when a shared library is loaded, processor.cpp compares. Where something is missing, the
// first instruction of every other function of the library becomes a jump to one that throws ProcessorError: compilers
// leave 5 bytes for it (-fpatchable-function-entry). So no public function has to ask, and none can be forgotten. With
// g++ there is no room for it (QUINTET_CLOSES_ENTRIES): calls of C++ are not stopped, and the sentence is printed
// before main().
//
// No static object may run code of the library before that: they are constinit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/instruction_sets.hpp"

namespace quintet::detail {

#define QUINTET_COUNT_ROW(...) +1
inline constexpr int instruction_set_count = 0 QUINTET_INSTRUCTION_SETS(QUINTET_COUNT_ROW);
#undef QUINTET_COUNT_ROW

/// 1 for the sets that the library was compiled for, in the order of the table.
extern const unsigned char compiled_instructions[instruction_set_count];

/// The registers eax, ebx, ecx and edx.
struct cpuid_answer {
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};
/// A processor, or what a test says of one. `cpuid` gives zeros for leaves that there are not.
struct processor_facts {
  cpuid_answer (*cpuid)(std::uint32_t leaf, std::uint32_t subleaf);
  std::uint64_t saved_registers;  ///< XCR0: what the system saves
};

/// Who reads the sentence, and so which option it names.
enum class build_tool : std::uint8_t { cmake, pip };

/// Writes the sentence about the instruction sets of `needed` that the processor lacks, cut to `bytes`, and returns
/// their number; "" for none.
int describe_missing(const processor_facts& processor, const unsigned char* needed, build_tool tool, char* sentence,
                     std::size_t bytes) noexcept;

/// The sentence about this processor and this copy of the library; null where nothing is missing.
const char* missing_instructions(build_tool tool = build_tool::cmake) noexcept;

}  // namespace quintet::detail
