#include "quintet/io/population_map.hpp"

#include "quintet/core/error.hpp"
#include "unit/io/temporary_folder.hpp"

namespace quintet::io {
namespace {

using names = std::vector<std::string>;
using numbers = std::vector<std::int64_t>;

class population_map_test : public test::temporary_folder {
 protected:
  population_map map(std::string_view content) const { return population_map::from_file(file("m.txt", content)); }
  void expect_bad(std::string_view content, std::string_view words) const {
    SCOPED_TRACE(content);
    QUINTET_EXPECT_CONTAINS(test::error_of<FileError>([&] { map(content); }), words);
  }
};

TEST_F(population_map_test, species_are_numbered_as_they_come) {
  for (const char* content :
       {"i1,B\ni2,A\ni3,B\n", "Individual;Species\ni1;B\ni2;A\ni3;B", "# x\n\ni1 B\n i2\tA\ni3   B\n",
        "i1 B g\ni2 A g\ni3 B h\n", "ind\tpop\ni1\tB\ni2\tA\ni3\tB\n", "<B: i1,i3; A:i2>\n", "<A:i2;\nB:i1, i3\n>",
        "sample\tpopulation\r\ni1\tB\r\ni2\tA\r\ni3\tB\r\n"}) {
    SCOPED_TRACE(content);
    const population_groups groups = map(content).group("x", names{"i2", "i3", "i1"});
    EXPECT_EQ(groups.species, (names{"A", "B"}));
    EXPECT_EQ(groups.species_of, (numbers{0, 1, 1}));
    EXPECT_TRUE(groups.absent.empty());
  }
}

TEST_F(population_map_test, a_dash_leaves_out_and_absent_ones_are_told) {
  const population_groups groups = map("i1 A\ni2 -\nz A\ny A\n").group("x", names{"i1", "i2"});
  EXPECT_EQ(groups.species, names{"A"});
  EXPECT_EQ(groups.species_of, (numbers{0, -1}));
  EXPECT_EQ(groups.absent, (names{"y", "z"}));
}

TEST_F(population_map_test, rules) {
  const names individuals{"a_b_c", "d_e", "-_x"};
  EXPECT_EQ(population_map::from_rule("before-first:_").group("x", individuals).species, (names{"a", "d", "-"}));
  EXPECT_EQ(population_map::from_rule("after-last:_").group("x", individuals).species, (names{"c", "e", "x"}));
  EXPECT_EQ(population_map::from_rule("after-last:_b_").group("x", names{"a_b_c"}).species, names{"c"});
  EXPECT_EQ(population_map::from_rule("before-first::").group("x", names{"a:c"}).species, names{"a"});
  EXPECT_EQ(population_map().group("x", individuals).species, individuals);
}

TEST_F(population_map_test, pairs_have_a_source_in_words) {
  const std::vector<std::pair<std::string, std::string>> pairs{{"i1", "B"}, {"i2", "-"}, {"z", "A"}};
  const population_map map = population_map::from_pairs(pairs, "column two of m.txt");
  const population_groups groups = map.group("x", names{"i2", "i1"});
  EXPECT_EQ(groups.species, (names{"-", "B"}));  // a dash leaves nothing out
  EXPECT_EQ(groups.species_of, (numbers{0, 1}));
  EXPECT_EQ(groups.absent, names{"z"});
  EXPECT_EQ(test::error_of<FileError>([&] { map.group("x.nex", names{"i1", "i3"}); }),
            "x.nex: the individual \"i3\" is not in column two of m.txt (1 of 2 are not)");
  const std::vector<std::pair<std::string, std::string>> twice{{"i1", "B"}, {"i1", "A"}};
  QUINTET_EXPECT_CONTAINS(test::error_of<InvalidArgument>([&] { population_map::from_pairs(twice, "column 1"); }),
                          "the individual i1 comes a second time in column 1");
}

TEST_F(population_map_test, what_does_not_fit_is_named) {
  QUINTET_EXPECT_CONTAINS(test::error_of<FileError>([&] { map("i1 A\n").group("x.nex", names{"i2"}); }),
                          "x.nex: the individual \"i2\" is not in the population map");
  QUINTET_EXPECT_CONTAINS(test::error_of<FileError>([&] { map("i1 A\n").group("x", names{"i1", "i2", "i3"}); }),
                          "(2 of 3 are not; the species \"-\"");
  const auto by_rule = [](const char* rule, const char* individual) {
    return test::error_of<FileError>([&] { population_map::from_rule(rule).group("x", names{individual}); });
  };
  QUINTET_EXPECT_CONTAINS(by_rule("before-first:_", "abc"), "\"abc\" has nothing before its first \"_\"");
  QUINTET_EXPECT_CONTAINS(by_rule("before-first:_", "_abc"), "has nothing before");
  QUINTET_EXPECT_CONTAINS(by_rule("after-last:_", "abc_"), "\"abc_\" has nothing behind its last \"_\"");
  for (const char* rule : {"", "before-first", "before-first:", "first:_", ":_"})
    QUINTET_EXPECT_CONTAINS(test::error_of<InvalidArgument>([&] { population_map::from_rule(rule); }),
                            "must be before-first:X or after-last:X");
}

TEST_F(population_map_test, bad_files_tell_line_and_reason) {
  expect_bad("", "without individuals");
  expect_bad("individual,species\n", "without individuals");
  expect_bad("i1,A\ni2\n", "m.txt:2: this line has 1 fields");
  expect_bad("i1,A,x,y\n", "m.txt:1: this line has 4 fields");
  expect_bad("<A:i1; B:i1>\n", "m.txt:1: the individual i1 comes a second time");
  expect_bad("<A:i1; B>\n", "m.txt:1: \"B\" must be species:individual");
  expect_bad("<A:i1,;\nB:i2>\n", "m.txt:2: the species A has an individual without a name");
  expect_bad("<A:i1\n", "has no end \">\"");
  expect_bad("i1,\n", "m.txt:1: a field is empty");
  expect_bad("i1,A\ni1,B\n", "m.txt:2: the individual i1 comes a second time");
  expect_bad("\"i1,A\n", "m.txt:1: a quoted field has no end");
}

}  // namespace
}  // namespace quintet::io
