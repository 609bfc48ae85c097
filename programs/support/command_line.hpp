// The command line of a driver: its own options and those that all drivers have.
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "quintet/core/error.hpp"
#include "quintet/core/words.hpp"
#include "quintet/io/file_format.hpp"

namespace quintet::driver {

namespace po = boost::program_options;

/// What a driver says of itself.
struct program {
  std::string name;     ///< "quintet-hdbscan"
  std::string summary;  ///< one or two sentences for --help
  std::string example;  ///< a whole command line for --help
  /// Allowed for --precision; the first is the default. "auto" stands for float or double, as the numbers need it.
  std::vector<std::string> precisions = {"float", "double"};
  bool distributed = false;  ///< runs as several ranks of MPI too
  /// An option that only the code for ranks has: with it, one process is a group of one.
  std::string option_of_ranks = "";
};

/// Values of the options that all drivers have.
struct common_options {
  std::string device = "auto";
  int threads = 0;  ///< 0: not given
  std::string precision;
  std::string json;  ///< empty: not given
  bool quiet = false;
};

/// What the command line asked for.
struct command_line {
  enum class request { work, help, version };
  request asked = request::work;
  common_options common;
  /// The driver's own options with their values, defaults included, '-' in names replaced by '_'.
  nlohmann::ordered_json parameters;
  std::set<std::string> option_names;  ///< names of the options that stand on the command line
  std::string help;
};

/// Whether an argument is --help or --version, which may also be the value of another option.
bool asks_for_text(int argc, const char* const* argv);

/// Parses and checks; the driver's own variables, bound in `own`, get their values. Throws InvalidArgument, naming the
/// option; for an empty text (no option means one), and for an unknown option with the nearest known one. Negative
/// values need no special form: `--curvature -1`.
command_line parse_command_line(int argc, const char* const* argv, const program& program,
                                const po::options_description& own);

/// A required option for an output file. The extension must be among `formats` and the folder writable: both are
/// checked while the command line is parsed, before any work. `why` says why other formats will not do.
po::typed_value<std::string>* output_file(std::string* path, std::vector<io::file_format> formats,
                                          std::string option = "output", std::string why = "");

/// The same, and not required.
po::typed_value<std::string>* optional_output_file(std::string* path, std::vector<io::file_format> formats,
                                                   std::string option = "output", std::string why = "");

/// For a numeric option's notifier: throws InvalidArgument unless the value is at least `min`.
inline auto at_least(const char* option, std::int64_t min) {
  return [option, min](std::int64_t value) { require_argument(value >= min, option, value, text(">= ", min)); };
}

/// For a numeric option's notifier: throws InvalidArgument unless least <= value <= most.
template <class T>
auto within(const char* option, T min, T max) {
  return [=](T value) {
    require_argument(value >= min && value <= max, option, value, text("in [", min, ", ", max, "]"));
  };
}

/// What one of several words means; throws InvalidArgument naming the option, its value, the words and the nearest one.
template <class Meaning>
Meaning choice(std::string_view option, std::string_view value,
               std::initializer_list<std::pair<std::string_view, Meaning>> words) {
  std::string allowed;
  std::vector<std::string_view> all;
  for (const auto& [word, meaning] : words) {
    if (word == value) return meaning;
    allowed.append(allowed.empty() ? "" : " or ").append(word);
    all.push_back(word);
  }
  throw InvalidArgument(
      text(option, " must be ", allowed, " (", option, "=", value, ")", quintet::detail::did_you_mean(value, all)));
}

/// The parts of a list such as "A,B,C"; an empty text is one empty part.
std::vector<std::string> split(const std::string& list, char separator);

/// Throws InvalidArgument when one of these options is given; `why` follows its name: "--seed needs --rank".
void require_absent(const command_line& line, std::initializer_list<const char*> options, std::string_view why);

/// Options with the files that they name.
using option_files = std::vector<std::pair<std::string, std::string>>;

/// Throws InvalidArgument when an output is the same file as an input or as another output; empty paths do not count.
void require_distinct_files(const option_files& inputs, const option_files& outputs);

}  // namespace quintet::driver
