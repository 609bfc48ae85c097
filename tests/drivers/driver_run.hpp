// Runs the driver programs as a user does: a command line in, exit status, output and files out.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "quintet/core/error.hpp"
#include "support/json_value.hpp"
#include "unit/io/temporary_folder.hpp"

namespace quintet::test {

/// The folder of the programs: QUINTET_DRIVER_DIR, or where this build put them.
std::string driver_folder();

/// A test of the program `quintet-<task>`. The programs run in a folder of their own, so paths are plain names.
class driver_run : public temporary_folder {
 protected:
  struct outcome {
    int status;
    std::string out, error;
  };
  using arguments = std::vector<std::string>;

  explicit driver_run(std::string task);
  ~driver_run() override;

  /// `through`: a command that starts the program, with its own arguments. `output` says where its standard output goes
  /// in the words of a shell, by default into the outcome.
  outcome run(const arguments& given, const std::string& through = "", const std::string& output = ">../out") const;
  /// The run succeeds, without warnings; returns its standard output.
  std::string run_well(const arguments& given) const;
  /// The run fails with this status and a message from the program that holds `message`; it leaves no file behind.
  void expect_failure(const arguments& given, int status, const std::string& message) const;
  /// What every program has to do with the common options, given arguments with which it works.
  void expect_common_options(const arguments& working, const std::string& precisions = "auto or float or double") const;

  /// Files where the programs run.
  std::string work(const std::string& name) const { return path("work/" + name); }
  std::string text_of(const std::string& name) const { return content("work/" + name); }
  json_value json(const std::string& name) const { return json_value::parse(text_of(name)); }
  std::string make(const std::string& name, const std::string& text) const { return file("work/" + name, text), name; }
  std::vector<std::string> names() const;

 private:
  std::string program_;
};

}  // namespace quintet::test
