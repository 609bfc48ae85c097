// What every program does with numbers out of range, full disks, protected folders and an early end.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <sstream>

#include "drivers/driver_run.hpp"
#include "support/sanitized.hpp"

namespace quintet {
namespace {

using arguments = std::vector<std::string>;

/// A program and a command line with which it works, without its output.
struct program_case {
  std::string task;
  arguments working;
  std::string output_option;         ///< empty: it writes nothing but --json
  std::vector<std::string> outputs;  ///< a file of each format, or a folder
  std::string in_folder = "";        ///< a file in the folder

  std::string first_file() const { return in_folder.empty() ? outputs[0] : outputs[0] + "/" + in_folder; }
};

void PrintTo(const program_case& c, std::ostream* out) { *out << c.task; }

const program_case cases[] = {
    {"hdbscan", {"--input", "points.csv"}, "--output", {"o.csv", "o.h5"}},
    {"reachability", {"--input", "points.csv", "--min-samples", "2"}, "--output", {"o.csv", "o.npy", "o.h5"}},
    {"neighbours", {"--input", "points.csv", "--k", "2"}, "--output", {"o.csv", "o.h5"}},
    {"poincare", {"--points", "points.csv"}, "--output", {"o.csv", "o.npy", "o.h5"}},
    {"svd", {"--input", "points.csv", "--mode", "full"}, "--output", {"o.h5"}},
    {"spgemm", {"--a", "ring.mtx"}, "--output", {"o.mtx", "o.mtx.gz", "o.h5"}},
    {"friends", {"--graph", "ring.mtx", "--top", "100"}, "--output", {"o.csv"}},
    {"snp-likelihood",
     {"--data", "counts.csv", "--network", "(A:0.1,B:0.1)r;", "--theta", "0.1", "--u", "1", "--v", "1"},
     "--per-site",
     {"o.csv"}},
    {"snp-simulate", {"--network", "(A:0.1,B:0.1)r;", "--theta", "0.1", "--sites", "200"}, "--output", {"o.csv"}},
    {"snp-mcmc",
     {"--data", "counts.csv", "--max-reticulations", "0", "--iterations", "200", "--prior",
      "theta = common gamma(2,20)"},
     "--output",
     {"o"},
     "chain_0.log"},
    {"devices", {}, "", {}}};

class every_driver : public test::driver_run, public testing::WithParamInterface<program_case> {
 protected:
  every_driver() : driver_run(GetParam().task) {
    std::ostringstream points, ring, counts;
    for (int i = 0; i < 100; ++i) points << i * 0.007 << "," << (i * i % 17) * 0.03 << "\n";
    make("points.csv", points.str());
    ring << "%%MatrixMarket matrix coordinate pattern general\n200 200 400\n";
    for (int i = 0; i < 200; ++i)
      ring << i + 1 << " " << (i + 1) % 200 + 1 << "\n" << (i + 1) % 200 + 1 << " " << i + 1 << "\n";
    make("ring.mtx", ring.str());
    counts << "A,B\n";
    for (int i = 0; i < 100; ++i) counts << i % 3 << "/2," << i * i % 3 << "/2\n";
    make("counts.csv", counts.str());
  }

  /// The working command line with `more` options, each of which replaces one of the same name.
  arguments with(const arguments& more) const {
    arguments all;
    const arguments& working = GetParam().working;
    for (std::size_t i = 0; i < working.size(); i += 2)
      if (std::find(more.begin(), more.end(), working[i]) == more.end())
        all.insert(all.end(), {working[i], working[i + 1]});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  /// Everything that it can write, one file per command line.
  std::vector<std::pair<std::string, arguments>> writing() const {
    std::vector<std::pair<std::string, arguments>> all;
    for (const std::string& output : GetParam().outputs)
      all.push_back({output, with({GetParam().output_option, output})});
    if (GetParam().task == "devices") all.push_back({"s.json", {"--json", "s.json"}});
    return all;
  }

  void remove_outputs() const {
    for (const std::string& name : GetParam().outputs) std::filesystem::remove_all(work(name));
  }

  /// The options that take a number, as --help lists them.
  std::vector<std::string> numeric_options() const {
    const std::vector<std::string> words{"FILE", "TEXT|FILE", "NAME", "MODE",   "METHOD", "WHICH",  "HOW",
                                         "RULE", "WHAT",      "TYPE", "DEVICE", "DIR",    "FORMAT", "TREE"};
    std::vector<std::string> found;
    std::istringstream help(run_well({"--help"}));
    for (std::string line; std::getline(help, line);) {
      std::istringstream fields(line);
      std::string option, value;
      fields >> option >> value;
      const bool takes_value = !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
        return std::isupper(static_cast<unsigned char>(c)) || c == '|';
      });
      if (line.starts_with("  --") && takes_value && std::find(words.begin(), words.end(), value) == words.end())
        found.push_back(option);
    }
    return found;
  }

  /// The message names the option, or the argument of the library that it sets.
  static bool names_option(const std::string& error, std::string option) {
    if (error.find(option) != std::string::npos) return true;
    option.erase(0, 2);
    std::replace(option.begin(), option.end(), '-', '_');
    return error.find(option) != std::string::npos;
  }
};

INSTANTIATE_TEST_SUITE_P(programs, every_driver, testing::ValuesIn(cases), [](const auto& info) {
  std::string name = info.param.task;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

/// The stages of the table that QUINTET_PROFILE prints which are in no other one. Warnings may stand before it; what
/// has no stages prints none.
std::vector<std::string> outermost_stages(const std::string& printed) {
  const std::string head = "    calls     seconds  own seconds  stage\n";
  const std::size_t table = printed.find(head);
  if (table == std::string::npos) return {};
  std::istringstream lines(printed.substr(table + head.size()));
  std::vector<std::string> stages;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t numbers = 9 + 1 + 11 + 1 + 11 + 2;
    EXPECT_GT(line.size(), numbers);
    if (line.size() > numbers && line[numbers] != ' ') stages.push_back(line.substr(numbers));
  }
  return stages;
}

// The names of the JSON's seconds are those of the regions. A stage that took exactly no time was left out.
TEST_P(every_driver, times_the_stages_that_are_regions) {
  const std::map<std::string, std::vector<arguments>> further{
      {"hdbscan", {{"--predict", "points.csv", "--membership", "--output", "o.h5"}}},
      {"reachability", {{"--input", "many.csv", "--memory", "1"}, {"--pairs", "pairs.csv"}}},
      {"poincare", {{"--knn", "3"}, {"--queries", "points.csv", "--pairwise"}}},
      {"svd", {{"--mode", "econ", "--rank", "2"}}},
      {"spgemm", {{"--b-transposed", "--budget", "1000000"}}},
      {"snp-likelihood", {{"--optimise", "lengths"}}}};
  std::ostringstream many;
  for (int i = 0; i < 600; ++i) many << i << "," << i * i % 17 << "\n";
  make("many.csv", many.str());
  make("pairs.csv", "0,1\n2,3\n");
  std::vector<arguments> lines{{}};
  if (const auto found = further.find(GetParam().task); found != further.end())
    lines.insert(lines.end(), found->second.begin(), found->second.end());
  for (arguments line : lines) {
    SCOPED_TRACE(testing::PrintToString(line));
    const bool has_output = std::find(line.begin(), line.end(), "--output") != line.end();
    if (!GetParam().output_option.empty() && !has_output)
      line.insert(line.end(), {GetParam().output_option, GetParam().outputs[0]});
    line.insert(line.end(), {"--json", "s.json"});
    const outcome done = run(with(line), "env QUINTET_PROFILE=1");
    ASSERT_EQ(done.status, 0) << done.error;
    const test::json_value seconds = json("s.json")["seconds"];
    std::vector<std::string> timed = seconds.keys(), regions = outermost_stages(done.error);
    std::erase_if(timed, [&](const std::string& key) { return key == "total" || seconds[key].number() == 0; });
    std::sort(timed.begin(), timed.end());
    std::sort(regions.begin(), regions.end());
    EXPECT_EQ(regions, timed);
    EXPECT_EQ(timed.empty(), GetParam().task == "devices");
    remove_outputs();
  }
}

TEST_P(every_driver, refuses_numbers_out_of_range) {
  const std::vector<std::string> options = numeric_options();
  ASSERT_NE(std::find(options.begin(), options.end(), "--threads"), options.end());
  for (const std::string& option : options) {
    arguments base;
    if (!GetParam().output_option.empty()) base = {GetParam().output_option, GetParam().outputs[0]};
    if (option == "--curvature" && GetParam().task != "poincare") base.insert(base.end(), {"--metric", "poincare"});
    if (option == "--p") base.insert(base.end(), {"--metric", "minkowski"});
    if (option == "--sphere-radius") base.insert(base.end(), {"--metric", "haversine"});
    if (option == "--oversampling" || option == "--power-iterations" ||
        (option == "--seed" && GetParam().task == "svd"))
      base.insert(base.end(), {"--rank", "1", "--mode", "econ"});
    const auto given = [&](const std::string& value) {
      arguments more = base;
      more.insert(more.end(), {option, value});
      return with(more);
    };
    for (const char* value : {"nan", "", "text", "1x", "-1e30"}) {
      SCOPED_TRACE(option + " " + value);
      const bool has_no_end = option == "--curvature" && std::string(value) == "-1e30";
      const std::vector<std::string> before = names();
      const outcome result = run(given(value));
      EXPECT_TRUE(result.status == 2 || (has_no_end && result.status == 0)) << result.status << " " << result.error;
      EXPECT_TRUE(has_no_end || names_option(result.error, option)) << result.error;
      EXPECT_TRUE(has_no_end || names() == before) << "a file was left behind";
      remove_outputs();
    }
    // Some of these have a meaning for some options: 0 is no limit, a distance may be huge.
    for (const char* value : {"-1", "0", "2.5", "1e30", "inf", "99999999999999999999"}) {
      SCOPED_TRACE(option + " " + value);
      const outcome result = run(given(value));
      EXPECT_TRUE(result.status == 0 || result.status == 2) << result.status << " " << result.error;
      EXPECT_TRUE(result.status == 0 || names_option(result.error, option)) << result.error;
      const bool curvature = option == "--curvature";
      EXPECT_TRUE(curvature || value[0] != '-' || result.status == 2) << "a negative number was taken";
      if (!GetParam().in_folder.empty()) remove_outputs();
    }
  }
}

// Results of these are on standard output alone, unless --json is given.
bool prints_results(const program_case& c) { return c.task == "devices" || c.task == "snp-likelihood"; }

TEST_P(every_driver, standard_output_closed_or_full) {
  arguments base = with({"--json", "s.json"});
  if (!GetParam().output_option.empty()) base.insert(base.end(), {GetParam().output_option, GetParam().outputs[0]});
  const std::vector<std::string> places{">&-", ">/dev/full", "| true"};
  for (const std::string& place : places) {
    SCOPED_TRACE(place);
    for (const std::string& name : names())
      if (name == "s.json") std::filesystem::remove(work(name));
    remove_outputs();
    const outcome result = run(base, "", place);
    EXPECT_EQ(result.status, 0) << result.error;  // of a pipe that of its end
    if (place != "| true") {
      QUINTET_EXPECT_CONTAINS(result.error, "warning: standard output cannot be written");
      EXPECT_GE(json("s.json")["warnings"].size(), 1u);
    }
    EXPECT_TRUE(text_of("s.json").ends_with("}\n"));
    if (!GetParam().outputs.empty()) {
      EXPECT_GT(text_of(GetParam().first_file()).size(), 20u);
      EXPECT_EQ(text_of(GetParam().first_file()).find("written"), std::string::npos) << "messages in the output";
    }
    std::filesystem::remove(work("s.json"));
  }
  for (const arguments& given : {arguments{"--help"}, arguments{"--version"}})
    EXPECT_EQ(run(given, "", ">/dev/full").status, 1);
  if (prints_results(GetParam())) {
    EXPECT_EQ(run(with({}), "", ">/dev/full").status, 1);
  }
}

TEST_P(every_driver, summary_on_an_open_file) {
  arguments base = with({"--json", "/dev/stdout", "--quiet"});
  if (!GetParam().output_option.empty()) base.insert(base.end(), {GetParam().output_option, GetParam().outputs[0]});
  outcome result = run(base, "", "| cat >../out");
  EXPECT_EQ(result.error, "");
  const test::json_value summary = test::json_value::parse(result.out);
  EXPECT_EQ(summary["program"], "quintet-" + GetParam().task);
  if (!GetParam().in_folder.empty()) remove_outputs();
  base[std::size_t(std::find(base.begin(), base.end(), "/dev/stdout") - base.begin())] = "/dev/fd/7";
  result = run(base, "", ">../out 7>seven.json");
  EXPECT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(json("seven.json")["program"], "quintet-" + GetParam().task);
}

// Of a shell, where nobody ignores the signal of the limit.
TEST_P(every_driver, a_limit_on_files_is_an_error_not_a_signal) {
  for (const auto& [name, command] : writing()) {
    SCOPED_TRACE(name);
    if (name.ends_with(".json") || name.ends_with(".gz")) continue;  // smaller than any limit that a shell can set
    std::string line = "trap - XFSZ; ulimit -f 1; exec \"$0\" \"$@\"";
    const outcome result = run(command, text("bash -c '", line, "'"));
    const bool small = result.status == 0;
    EXPECT_TRUE(small || result.status == 2) << result.status << " " << result.error;
    if (!small) QUINTET_EXPECT_CONTAINS(result.error, "File too large");
  }
}

TEST_P(every_driver, summary_says_where_the_stages_ran) {
  if (GetParam().task == "devices" || GetParam().task == "snp-simulate") return;  // they launch no kernel
  for (const char* device : {"host", "emulated"}) {
    arguments line = with({"--device", device, "--json", "s.json"});
    if (!GetParam().output_option.empty()) line.insert(line.end(), {GetParam().output_option, GetParam().outputs[0]});
    const outcome done = run(line);
    ASSERT_EQ(done.status, 0) << done.error;
    const std::regex where(text("\"ran_on\": (\\{[^}]*)?\"", device, "\""));
    EXPECT_TRUE(std::regex_search(text_of("s.json"), where)) << text_of("s.json");
    remove_outputs();
  }
}

TEST_P(every_driver, precision_holds_the_input) {
  const std::string& task = GetParam().task;
  if (task == "friends" || task.starts_with("snp-") || task == "devices") GTEST_SKIP() << "no choice";
  const bool reads_points = task != "spgemm";
  const auto precision_of = [&](const std::string& points) {
    make("points.csv", points);
    arguments given = with({GetParam().output_option, GetParam().outputs[0], "--json", "s.json", "--quiet"});
    run_well(given);
    return json("s.json")["precision"];
  };
  EXPECT_EQ(precision_of("0,0.25\n0.5,0\n0,0.5\n"), reads_points ? "float" : "double");
  EXPECT_EQ(precision_of("0,0.25\n0.5,0\n0,0.1\n"), "double");
}

TEST_P(every_driver, small_stacks_of_threads) {
  if (test::sanitized) GTEST_SKIP() << "frames of instrumented code are larger";
  for (const auto& [name, command] : writing())
    for (const char* device : {"host", "emulated"}) {
      SCOPED_TRACE(name + " " + device);
      arguments given = command;
      given.insert(given.end(), {"--device", device, "--threads", "2", "--quiet"});
      if (GetParam().task != "friends") given.insert(given.end(), {"--precision", "double"});
      if (!GetParam().in_folder.empty()) remove_outputs();
      const outcome result = run(given, "env OMP_STACKSIZE=64k");
      EXPECT_EQ(result.status, 0) << result.error;
    }
}

TEST_P(every_driver, full_disk_leaves_what_was_there) {
  if (!GetParam().in_folder.empty()) GTEST_SKIP() << "a run of hours that goes on: snp_mcmc_kill_test.sh";
  // libomp's record of a process (1024 bytes) does not fit under the limit: it leaves an empty file, and a later
  // process of that number that meets such a file ends by SIGBUS.
  const std::string without_records =
      "bash -c 'record=/tmp/__KMP_REGISTERED_LIB_; (rm -f $record${BASHPID}_$UID; exec \"$0\" \"$@\") & "
      "wait $!; status=$?; rm -f $record$!_$UID; exit $status'";
  for (const auto& [name, command] : writing()) {
    SCOPED_TRACE(name);
    make(name, "before");
    const std::vector<std::string> before = names();
    outcome result;
    {
      const test::file_size_limit limit(600);
      result = run(command, without_records);
    }
    EXPECT_EQ(result.status, 2) << result.error;
    QUINTET_EXPECT_CONTAINS(result.error, name);
    EXPECT_EQ(text_of(name), "before");
    EXPECT_EQ(names(), before);
  }
}

TEST_P(every_driver, protected_folder_is_told_before_the_work) {
  // Root may write everywhere: the program runs as somebody else.
  const bool root = ::geteuid() == 0;
  const std::string as_nobody = root ? "setpriv --reuid=65534 --regid=65534 --clear-groups" : "";
  ::chmod(path("").c_str(), 0755);
  if (root && run({"--version"}, as_nobody).status != 0) GTEST_SKIP() << "the programs cannot be run as another user";
  ::chmod(work("").c_str(), 0555);
  for (const auto& [name, command] : writing()) {
    SCOPED_TRACE(name);
    const std::vector<std::string> before = names();
    const outcome result = run(command, as_nobody);
    EXPECT_EQ(result.status, 2) << result.error;
    EXPECT_EQ(result.out, "");
    QUINTET_EXPECT_CONTAINS(result.error, name);
    QUINTET_EXPECT_CONTAINS(result.error, "Permission denied");
    EXPECT_EQ(names(), before);
  }
  ::chmod(work("").c_str(), 0755);
}

class killed_driver : public test::driver_run {
 protected:
  killed_driver() : driver_run("reachability") {}
};

// At any moment the output is complete or not there.
TEST_F(killed_driver, leaves_no_partial_file) {
  std::ostringstream points;
  for (int i = 0; i < 1200; ++i) points << i * 0.007 << "," << (i * i % 17) * 0.03 << "\n";
  make("points.csv", points.str());
  const arguments command{"--input", "points.csv", "--min-samples", "2", "--output", "o.npy"};
  run_well(command);
  const std::string complete = text_of("o.npy");
  ASSERT_GT(complete.size(), 5'000'000u);
  int killed = 0, done = 0;
  for (double seconds = 0.002; done == 0 && seconds < 100; seconds *= 1.15) {
    std::filesystem::remove(work("o.npy"));
    const outcome result = run(command, text("timeout -s KILL ", seconds));
    const bool there = std::filesystem::exists(work("o.npy"));
    EXPECT_TRUE(!there || text_of("o.npy") == complete) << "a partial file after " << seconds << " s";
    result.status == 0 ? ++done : ++killed;
    EXPECT_TRUE(result.status != 0 || there);
  }
  EXPECT_EQ(done, 1);
  EXPECT_GE(killed, 1);
}

}  // namespace
}  // namespace quintet
