// The comparison of a processor with what the library was compiled for, on processors made up here.
#include "core/processor.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "quintet/core/error.hpp"

namespace quintet::detail {
namespace {

using sets = std::array<unsigned char, instruction_set_count>;
constexpr std::uint64_t avx_is_saved = 0x7, avx512_is_saved = 0xe7, all_are_saved = 0x800e7;

#define QUINTET_ROW(name, ...) name,
constexpr const char* names[] = {QUINTET_INSTRUCTION_SETS(QUINTET_ROW)};
#undef QUINTET_ROW
#define QUINTET_ROW(name, macro, level, ...) level,
constexpr int levels[] = {QUINTET_INSTRUCTION_SETS(QUINTET_ROW)};
#undef QUINTET_ROW

/// What cpuid answers: every bit of the leaves with features, less what a test takes away.
std::map<std::pair<std::uint32_t, std::uint32_t>, cpuid_answer> answers;

cpuid_answer answer(std::uint32_t leaf, std::uint32_t subleaf) {
  const auto found = answers.find({leaf, subleaf});
  return found == answers.end() ? cpuid_answer{} : found->second;
}

void name_processor(const char* name) {
  char text[48] = {};
  std::strncpy(text, name, sizeof text);
  for (std::uint32_t part = 0; part < 3; ++part) std::memcpy(&answers[{0x80000002 + part, 0}], text + 16 * part, 16);
}

processor_facts whole_processor(std::uint64_t saved = all_are_saved) {
  constexpr std::uint32_t every = 0xffffffff;
  answers.clear();
  for (const auto& leaf : {std::pair{1u, 0u}, {7u, 0u}, {7u, 1u}, {0x80000001u, 0u}})
    answers[leaf] = {every, every, every, every};
  name_processor("  Made Up 7000 ");
  return {&answer, saved};
}

/// Takes a set away.
void remove(const std::string& set){
#define QUINTET_ROW(name, macro, level, leaf, subleaf, word, bit, state) \
  if (set == name) answers[{leaf, subleaf}].word &= ~(1u << bit);
    QUINTET_INSTRUCTION_SETS(QUINTET_ROW)
#undef QUINTET_ROW
}

sets up_to(int level) {
  sets needed{};
  for (int i = 0; i < instruction_set_count; ++i) needed[i] = levels[i] != 0 && levels[i] <= level;
  return needed;
}

std::string sentence_of(const processor_facts& processor, const sets& needed, build_tool tool = build_tool::cmake) {
  char text[2048] = "untouched";
  describe_missing(processor, needed.data(), tool, text, sizeof text);
  return text;
}

TEST(processor, with_everything_lacks_nothing) {
  sets all;
  all.fill(1);
  EXPECT_EQ(sentence_of(whole_processor(), all), "");
}

TEST(processor, each_set_is_missed_by_its_name) {
  for (int i = 0; i < instruction_set_count; ++i) {
    const processor_facts processor = whole_processor();
    remove(names[i]);
    sets needed{};
    EXPECT_EQ(sentence_of(processor, needed), "") << names[i];
    needed[i] = 1;
    EXPECT_NE(sentence_of(processor, needed).find("for processors with " + std::string(names[i]) + ". "),
              std::string::npos)
        << names[i];
  }
}

TEST(processor, rows_are_of_different_bits) {
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::string, int>> places;
#define QUINTET_ROW(name, macro, level, leaf, subleaf, word, bit, state) \
  EXPECT_TRUE(places.insert({leaf, subleaf, #word, bit}).second) << name;
  QUINTET_INSTRUCTION_SETS(QUINTET_ROW)
#undef QUINTET_ROW
}

TEST(processor, sentence_of_cmake) {
  const processor_facts processor = whole_processor();
  remove("AVX2");
  remove("BMI2");
  EXPECT_EQ(
      sentence_of(processor, up_to(3)),
      "quintet was compiled for processors with AVX2, BMI2. This one lacks them: Made Up 7000. Compile quintet for all "
      "of your machines: cmake -DQUINTET_HOST_ARCH=x86-64-v2");
}

TEST(processor, sentence_of_pip) {
  const processor_facts processor = whole_processor();
  remove("AVX512BW");
  EXPECT_EQ(
      sentence_of(processor, up_to(4), build_tool::pip),
      "quintet was compiled for processors with AVX512BW. This one lacks it: Made Up 7000. Install it for all of your "
      "machines: pip install --no-cache-dir --force-reinstall -C cmake.define.QUINTET_HOST_ARCH=x86-64-v3 .");
}

TEST(processor, the_option_is_the_highest_level_that_is_there) {
  sets needed = up_to(4);
  const auto level_without = [&](const char* set) {
    const processor_facts processor = whole_processor();
    remove(set);
    const std::string sentence = sentence_of(processor, needed);
    return sentence.substr(sentence.rfind('=') + 1);
  };
  EXPECT_EQ(level_without("AVX512F"), "x86-64-v3");
  EXPECT_EQ(level_without("MOVBE"), "x86-64-v2");
  EXPECT_EQ(level_without("SSE4.2"), "x86-64");
  for (int i = 0; i < instruction_set_count; ++i) needed[i] = 1;
  EXPECT_EQ(level_without("AVX512_VNNI"), "x86-64-v4");
}

TEST(processor, registers_that_the_system_does_not_save_are_missing) {
  EXPECT_EQ(sentence_of(whole_processor(avx512_is_saved), up_to(4)), "");
  EXPECT_NE(sentence_of(whole_processor(avx_is_saved), up_to(4)).find("with AVX512F, "), std::string::npos);
  EXPECT_EQ(sentence_of(whole_processor(avx_is_saved), up_to(3)), "");
  EXPECT_NE(sentence_of(whole_processor(0), up_to(3)).find("with AVX, AVX2, FMA, F16C. "), std::string::npos);
  EXPECT_EQ(sentence_of(whole_processor(0), up_to(2)), "");
}

TEST(processor, without_a_name) {
  const processor_facts processor = whole_processor();
  name_processor("");
  remove("AVX");
  EXPECT_NE(sentence_of(processor, up_to(3)).find("of unknown name. "), std::string::npos);
}

TEST(processor, a_sentence_is_cut_to_its_memory) {
  answers.clear();
  const processor_facts nothing{&answer, 0};
  sets all;
  all.fill(1);
  std::vector<char> memory(40, '#');
  EXPECT_EQ(describe_missing(nothing, all.data(), build_tool::cmake, memory.data(), 32), instruction_set_count);
  EXPECT_EQ(std::strlen(memory.data()), 31u);
  EXPECT_EQ(memory[32], '#');
}

TEST(processor, this_one_has_what_the_tests_use) { EXPECT_EQ(missing_instructions(), nullptr); }

// The object with the list is compiled as the library is; these macros are those of this file, compiled so too.
TEST(processor, compiled_instructions_are_those_of_the_compiler) {
  const auto needs = [](const std::string& set) {
    for (int i = 0; i < instruction_set_count; ++i)
      if (set == names[i]) return compiled_instructions[i] != 0;
    ADD_FAILURE() << set;
    return false;
  };
#ifdef __AVX2__
  EXPECT_TRUE(needs("AVX2"));
#else
  EXPECT_FALSE(needs("AVX2"));
#endif
#ifdef __AVX512F__
  EXPECT_TRUE(needs("AVX512F"));
#else
  EXPECT_FALSE(needs("AVX512F"));
#endif
#ifdef __SSSE3__
  EXPECT_TRUE(needs("SSSE3"));
#else
  EXPECT_FALSE(needs("SSSE3"));
#endif
}

TEST(processor, its_error_is_one_of_devices) {
  const auto refuse = [] { throw ProcessorError("no AVX2"); };
  try {
    refuse();
    FAIL();
  } catch (const DeviceError& error) {
    EXPECT_STREQ(error.what(), "no AVX2");
  }
}

}  // namespace
}  // namespace quintet::detail
