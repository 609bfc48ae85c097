#include "drivers/driver_run.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "support/stale_registrations.hpp"

namespace quintet::test {
namespace {

std::string quoted(const std::string& word) {
  std::string result = "'";
  for (const char c : word) c == '\'' ? result += "'\\''" : result += c;
  return result + "'";
}

}  // namespace

std::string driver_folder() {
  const char* set = std::getenv("QUINTET_DRIVER_DIR");
  return set != nullptr ? set : QUINTET_DRIVER_FOLDER;
}

driver_run::driver_run(std::string task) : program_("quintet-" + std::move(task)) {
  remove_stale_registrations();
  std::filesystem::create_directory(path("work"));
}
driver_run::~driver_run() { remove_stale_registrations(); }

driver_run::outcome driver_run::run(const arguments& given, const std::string& through,
                                    const std::string& output) const {
  std::string command =
      text("cd ", quoted(path("work")), " && ", through, " ", quoted(text(driver_folder(), "/", program_)));
  for (const std::string& argument : given) command.append(" ").append(quoted(argument));
  const int raw = std::system((command + " 2>../error " + output).c_str());
  return {WIFEXITED(raw) ? WEXITSTATUS(raw) : -1, content("out"), content("error")};
}

std::string driver_run::run_well(const arguments& given) const {
  const outcome result = run(given);
  EXPECT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.error, "");
  return result.out;
}

void driver_run::expect_failure(const arguments& given, int status, const std::string& message) const {
  SCOPED_TRACE(testing::PrintToString(given));
  const std::vector<std::string> before = names();
  const outcome result = run(given);
  EXPECT_EQ(result.status, status);
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(result.error.starts_with(program_ + ": ")) << result.error;
  QUINTET_EXPECT_CONTAINS(result.error, message);
  EXPECT_EQ(names(), before) << "a file was left behind";
}

void driver_run::expect_common_options(const arguments& working, const std::string& precisions) const {
  const auto with = [&](const arguments& more) {
    arguments all = working;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  for (const char* option : {"--help", "-h"}) QUINTET_EXPECT_CONTAINS(run_well({option}), "Example:\n  " + program_);
  QUINTET_EXPECT_CONTAINS(run_well({"--version"}), program_ + ": quintet ");
  expect_failure(with({"--device", "1000"}), 3, "--device: device 1000 is not available");
  expect_failure(with({"--device", "offload:1000"}), 3, "--device: device 1000 is not available");
  expect_failure(with({"--device", "gpu"}), 2, "--device: device must be auto, host, emulated, or an offload device");
  expect_failure(with({"--threads", "0"}), 2, "--threads must be >= 1 (--threads=0)");
  expect_failure(with({"--precision", "quarter"}), 2, "--precision must be " + precisions);
  expect_failure(with({"--json", "none/x.json"}), 2, "--json: none/x.json");
  expect_failure(with({"--json", ""}), 2, "--json must not be empty");
  expect_failure(with({"--quiett"}), 2, "did you mean --quiet?");
  expect_failure(with({"stray"}), 2, "unexpected argument 'stray'");
  EXPECT_EQ(run_well(with({"--quiet"})), "");
  run_well(with({"--json", "common.json", "--device", "host", "--threads", "2"}));
  const json_value summary = json("common.json");
  EXPECT_EQ(summary["program"], program_);
  EXPECT_EQ(summary["device"]["kind"], "host");
  EXPECT_EQ(summary["device"]["threads"], 2);
  for (const char* key : {"build", "precision", "parameters", "results", "warnings", "seconds"})
    EXPECT_TRUE(summary.contains(key)) << key;
  EXPECT_GT(summary["seconds"]["total"].number(), 0);
}

std::vector<std::string> driver_run::names() const {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(path("work"))) found.push_back(entry.path().filename());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace quintet::test
