#include "core/processor.hpp"

#include <cstdio>
#include <cstring>

#include "core/platform.hpp"
#include "quintet/core/error.hpp"

#ifdef QUINTET_COMPARES_PROCESSOR
#include <cpuid.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

// Nothing here may use templates or inline functions of other files: the linker keeps one copy of each, and that may be
// compiled for more than this processor has.
namespace quintet {

ProcessorError::ProcessorError(const char* sentence) : DeviceError(sentence) {}
ProcessorError::~ProcessorError() = default;

namespace detail {

namespace {

enum register_state : std::uint64_t { sse = 0, avx = 0x6, avx512 = 0xe6, apx = 0x80000 };

struct instruction_set {
  const char* name;
  int level;
  std::uint32_t leaf, subleaf;
  std::uint32_t cpuid_answer::* word;
  int bit;
  register_state state;
};

#define QUINTET_ROW(name, macro, level, leaf, subleaf, word, bit, state) \
  {name, level, leaf, subleaf, &cpuid_answer::word, bit, state},
constexpr instruction_set table[] = {QUINTET_INSTRUCTION_SETS(QUINTET_ROW)};
#undef QUINTET_ROW

bool has(const processor_facts& processor, const instruction_set& set) {
  return (processor.cpuid(set.leaf, set.subleaf).*set.word >> set.bit & 1) != 0 &&
         (processor.saved_registers & set.state) == set.state;
}

/// A text of limited length.
struct line {
  char* begin;
  std::size_t bytes, length;

  void add(const char* part) {
    while (*part != '\0' && length + 1 < bytes) begin[length++] = *part++;
    begin[length] = '\0';
  }
};

/// "AMD EPYC": without the blanks around it.
void add_name(const processor_facts& processor, line& out) {
  char name[3 * sizeof(cpuid_answer) + 1] = {};
  for (std::uint32_t part = 0; part < 3; ++part) {
    const cpuid_answer answer = processor.cpuid(0x80000002 + part, 0);
    std::memcpy(name + part * sizeof answer, &answer, sizeof answer);
  }
  char* begin = name;
  while (*begin == ' ') ++begin;
  for (char* end = begin + std::strlen(begin); end != begin && end[-1] == ' ';) *--end = '\0';
  out.add(*begin != '\0' ? begin : "of unknown name");
}

/// The highest level of x86-64 all of whose sets the processor has.
const char* level_of(const processor_facts& processor) {
  int level = 4;
  for (const instruction_set& set : table)
    if (set.level != 0 && set.level <= level && !has(processor, set)) level = set.level - 1;
  constexpr const char* names[] = {"x86-64", "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};
  return names[level];
}

}  // namespace

int describe_missing(const processor_facts& processor, const unsigned char* needed, build_tool tool, char* sentence,
                     std::size_t bytes) noexcept {
  line out{sentence, bytes, 0};
  out.add("");
  int missing = 0;
  for (int i = 0; i < instruction_set_count; ++i) {
    if (needed[i] == 0 || has(processor, table[i])) continue;
    out.add(missing == 0 ? "quintet was compiled for processors with " : ", ");
    out.add(table[i].name);
    ++missing;
  }
  if (missing == 0) return 0;
  out.add(missing == 1 ? ". This one lacks it: " : ". This one lacks them: ");
  add_name(processor, out);
  out.add(tool == build_tool::cmake
              ? ". Compile quintet for all of your machines: cmake -DQUINTET_HOST_ARCH="
              : ". Install it for all of your machines: pip install --no-cache-dir --force-reinstall "
                "-C cmake.define.QUINTET_HOST_ARCH=");
  out.add(level_of(processor));
  if (tool == build_tool::pip) out.add(" .");
  return missing;
}

#ifdef QUINTET_COMPARES_PROCESSOR

namespace {

cpuid_answer ask_cpuid(std::uint32_t leaf, std::uint32_t subleaf) {
  cpuid_answer a;
  if (__get_cpuid_max(leaf & 0x80000000, nullptr) >= leaf) __cpuid_count(leaf, subleaf, a.eax, a.ebx, a.ecx, a.edx);
  return a;
}

std::uint64_t ask_saved_registers() {
  constexpr std::uint32_t osxsave = 1u << 27;
  if ((ask_cpuid(1, 0).ecx & osxsave) == 0) return 0;
  std::uint32_t low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t(high) << 32 | low;
}

char cmake_sentence[1024], pip_sentence[1024];
bool is_compared = false, is_missing = false;

[[noreturn]] void refuse() { throw ProcessorError(cmake_sentence); }

constexpr std::size_t entry_bytes = 5;
constexpr unsigned char nops_of_gcc[entry_bytes] = {0x90, 0x90, 0x90, 0x90, 0x90};
constexpr unsigned char nop_of_clang[entry_bytes] = {0x0f, 0x1f, 0x44, 0x00, 0x08};
constexpr unsigned char nop_of_later_clang[entry_bytes] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

/// Where functions of this program or shared library begin, by its linker.
extern "C" {
extern unsigned char* const entries_begin[] __asm__("__start___patchable_function_entries")
    __attribute__((weak, visibility("hidden")));
extern unsigned char* const entries_end[] __asm__("__stop___patchable_function_entries")
    __attribute__((weak, visibility("hidden")));
}

bool is_entry(const unsigned char* at) {
  return std::memcmp(at, nops_of_gcc, entry_bytes) == 0 || std::memcmp(at, nop_of_clang, entry_bytes) == 0 ||
         std::memcmp(at, nop_of_later_clang, entry_bytes) == 0;
}

/// Makes every entry a jump to refuse(). False where the compiler has left no room, or the system lets nobody write to
/// code.
bool close_entries() {
  std::uintptr_t first = UINTPTR_MAX, last = 0;
  for (unsigned char* const* entry = entries_begin; entry != entries_end; ++entry) {
    const auto at = reinterpret_cast<std::uintptr_t>(*entry);
    if (at < first) first = at;
    if (at + entry_bytes > last) last = at + entry_bytes;
  }
  if (last == 0) return false;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  first -= first % page;
  void* const code = reinterpret_cast<void*>(first);
  if (::mprotect(code, last - first, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
  for (unsigned char* const* entry = entries_begin; entry != entries_end; ++entry) {
    unsigned char* const at = *entry;
    if (!is_entry(at)) continue;
    const auto distance = static_cast<std::int32_t>(reinterpret_cast<std::intptr_t>(&refuse) -
                                                    reinterpret_cast<std::intptr_t>(at + entry_bytes));
    at[0] = 0xe9;  // jmp
    std::memcpy(at + 1, &distance, sizeof distance);
  }
  ::mprotect(code, last - first, PROT_READ | PROT_EXEC);
  return true;
}

void compare() {
  if (is_compared) return;
  is_compared = true;
  const processor_facts processor{&ask_cpuid, ask_saved_registers()};
  is_missing =
      describe_missing(processor, compiled_instructions, build_tool::cmake, cmake_sentence, sizeof cmake_sentence) != 0;
  describe_missing(processor, compiled_instructions, build_tool::pip, pip_sentence, sizeof pip_sentence);
  // Programs, C and Python ask themselves; what else is called may end with an illegal instruction, but not without a
  // word.
  if (is_missing && !close_entries()) std::fprintf(stderr, "%s\n", cmake_sentence);
}

/// Before the constructors of all static objects, whose priorities begin behind those of the system, which end at 100.
[[gnu::constructor(101)]] void compare_first() { compare(); }

}  // namespace

const char* missing_instructions(build_tool tool) noexcept {
  compare();
  if (!is_missing) return nullptr;
  return tool == build_tool::cmake ? cmake_sentence : pip_sentence;
}

}  // namespace detail
}  // namespace quintet

/// What every object of the library refers to, so that this file is in every program.
extern "C" {
extern const char quintet_entries_are_checked;
const char quintet_entries_are_checked = 1;
}

#else

const char* missing_instructions(build_tool) noexcept { return nullptr; }

}  // namespace detail
}  // namespace quintet

#endif
