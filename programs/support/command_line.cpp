#include "support/command_line.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <sstream>
#include <system_error>
#include <type_traits>
#include <typeinfo>

#include "quintet/core/error.hpp"
#include "quintet/core/words.hpp"
#include "quintet/io/atomic_file.hpp"
#include "support/integer_list.hpp"

namespace quintet::driver {

namespace {

constexpr const char* stray = "unexpected-arguments";  // where arguments without an option go, to be named in the error

// "; did you mean --min-samples?", or nothing when no option is near.
std::string hint(std::string_view unknown, const po::options_description& options) {
  unknown.remove_prefix(std::min(unknown.find_first_not_of('-'), unknown.size()));
  unknown = unknown.substr(0, unknown.find('='));
  std::vector<std::string_view> names;
  for (const auto& option : options.options())
    if (option->long_name() != stray) names.push_back(option->long_name());
  return quintet::detail::did_you_mean(unknown, names, "--");
}

nlohmann::ordered_json real_value(double value) {
  // JSON has no word for these.
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

template <class T>
bool convert(const boost::any& value, nlohmann::ordered_json& json) {
  const T* typed = boost::any_cast<T>(&value);
  if (typed == nullptr) return false;
  if constexpr (std::is_floating_point_v<T>)
    json = real_value(*typed);
  else
    json = *typed;
  return true;
}

nlohmann::ordered_json value_of(const boost::any& value) {
  nlohmann::ordered_json json;
  if (const auto* list = boost::any_cast<integer_list>(&value)) {
    // One number is one, as for other options.
    if (list->values.size() == 1) return list->values[0];
    return list->spelling;
  }
  (void)(convert<std::string>(value, json) || convert<bool>(value, json) || convert<int>(value, json) ||
         convert<std::int64_t>(value, json) || convert<std::uint64_t>(value, json) || convert<double>(value, json) ||
         convert<float>(value, json) || convert<std::vector<std::string>>(value, json) ||
         convert<std::vector<double>>(value, json) || convert<std::vector<std::int64_t>>(value, json));
  return json;
}

/// What the value of this option has to be, where it is a number.
std::string allowed_number(const po::option_description& option) {
  const auto* typed = dynamic_cast<const po::typed_value_base*>(option.semantic().get());
  if (typed == nullptr) return "another value";
  const std::type_info& type = typed->value_type();
  const auto whole = [](auto max) { return text("a whole number, at most ", max); };
  if (type == typeid(int)) return whole(std::numeric_limits<int>::max());
  if (type == typeid(std::int64_t)) return whole(std::numeric_limits<std::int64_t>::max());
  if (type == typeid(std::uint64_t)) return text(whole(std::numeric_limits<std::uint64_t>::max()), ", and >= 0");
  if (type == typeid(integer_list)) return "whole numbers: N, FIRST:LAST or FIRST:LAST:STEP, joined by commas";
  return "a number";
}

/// The parser takes -1 for a large number where the type has no sign.
void refuse_negative(const po::parsed_options& parsed, const po::options_description& all) {
  for (const auto& parsed_option : parsed.options) {
    const po::option_description* option = all.find_nothrow(parsed_option.string_key, false);
    const auto* typed =
        option == nullptr ? nullptr : dynamic_cast<const po::typed_value_base*>(option->semantic().get());
    if (typed == nullptr || typed->value_type() != typeid(std::uint64_t)) continue;
    for (const std::string& value : parsed_option.value)
      require_argument(!value.starts_with('-'), text("--", parsed_option.string_key), value, allowed_number(*option));
  }
}

/// No option has a meaning for an empty text: --json "" of a script whose variable is empty would be ignored.
void refuse_empty(const po::parsed_options& parsed, const po::options_description& all) {
  for (const auto& parsed_option : parsed.options) {
    const po::option_description* option = all.find_nothrow(parsed_option.string_key, false);
    const auto* typed =
        option == nullptr ? nullptr : dynamic_cast<const po::typed_value_base*>(option->semantic().get());
    if (typed == nullptr || typed->value_type() != typeid(std::string)) continue;
    for (const std::string& value : parsed_option.value)
      if (value.empty()) throw InvalidArgument(text("--", parsed_option.string_key, " must not be empty"));
  }
}

/// The message for a value that cannot be read: option, value, and what is allowed.
std::string unreadable(const po::validation_error& e, const po::parsed_options& parsed,
                       const po::options_description& all) {
  for (const auto& option : parsed.options) {
    const std::string name = "--" + option.string_key;
    if (e.get_option_name() != name || option.value.empty()) continue;
    return text(name, " must be ", allowed_number(all.find(option.string_key, false)), " (", name, "=",
                option.value.back(), ")");
  }
  return text(e.what(), " (see --help)");
}

std::string joined(const std::vector<std::string>& words, const char* separator) {
  std::string result;
  for (const std::string& word : words) result.append(result.empty() ? "" : separator).append(word);
  return result;
}

std::string precision_words(const program& program) {
  const std::string words = joined(program.precisions, " or ");
  if (program.precisions.front() != "auto") return words;
  return words +
         ". auto is float if it holds every number of the input, otherwise double. The type of an .npy or .h5 file "
         "decides, in a .csv file the numbers. --json reports it";
}

void check(const common_options& common, bool threads_given, const program& program) {
  if (threads_given) require_argument(common.threads >= 1, "--threads", common.threads, ">= 1");
  if (std::find(program.precisions.begin(), program.precisions.end(), common.precision) == program.precisions.end())
    throw InvalidArgument(
        text("--precision must be ", joined(program.precisions, " or "), " (--precision=", common.precision, ")"));
  if (common.json.empty()) return;
  try {
    io::check_writable(common.json);
  } catch (const FileError& e) {
    throw InvalidArgument(text("--json: ", e.what()));
  }
}

}  // namespace

bool asks_for_text(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i)
    if (const std::string_view word = argv[i]; word == "--help" || word == "-h" || word == "--version") return true;
  return false;
}

command_line parse_command_line(int argc, const char* const* argv, const program& program,
                                const po::options_description& own) {
  command_line line;
  common_options& common = line.common;
  po::options_description shared("Options of all quintet programs");
  shared.add_options()                                                                                         //
      ("help,h", "this text")                                                                                  //
      ("version", "version of the library, compiler, offload targets")                                         //
      ("device", po::value(&common.device)->default_value("auto")->value_name("DEVICE"),                       //
       "auto (the first GPU, otherwise the host), host, emulated (device code on host threads), or a number")  //
      ("threads", po::value(&common.threads)->value_name("N"), "host threads, >= 1; all cores by default")     //
      ("precision", po::value(&common.precision)->default_value(program.precisions.at(0))->value_name("TYPE"),
       precision_words(program).c_str())  //
      ("json", po::value(&common.json)->value_name("FILE"),
       "writes a summary: parameters, results, seconds per stage, device")  //
      ("quiet", po::bool_switch(&common.quiet), "prints nothing but errors");
  po::options_description visible, all;
  if (!own.options().empty()) visible.add(own);
  visible.add(shared);
  all.add(visible).add_options()(stray, po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add(stray, -1);

  std::ostringstream help;
  help << program.name << ": " << program.summary << "\n\nExample:\n  " << program.example
       << "\n\nUsage: " << program.name << " [options]\n"
       << visible << "\nDocuments: share/doc/quintet of the installation; plots of results: share/quintet/plot_*.py\n";
  line.help = help.str();

  po::variables_map values;
  po::parsed_options parsed(&all);
  try {
    // No abbreviations: an option added later must not change what an old script means.
    const auto style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    parsed = po::command_line_parser(argc, argv).options(all).positional(positional).style(style).run();
    refuse_negative(parsed, all);
    refuse_empty(parsed, all);
    for (const auto& option : parsed.options) line.option_names.insert(option.string_key);
    po::store(parsed, values);
    if (values.count("help") > 0) line.asked = command_line::request::help;
    if (values.count("version") > 0) line.asked = command_line::request::version;
    if (line.asked != command_line::request::work) return line;
    if (values.count(stray) > 0)
      throw InvalidArgument(text("unexpected argument '", values[stray].as<std::vector<std::string>>().front(),
                                 "'; every value needs its option (see --help)"));
    po::notify(values);
  } catch (const po::unknown_option& e) {
    throw InvalidArgument(
        text("unknown option '", e.get_option_name(), "'", hint(e.get_option_name(), visible), " (see --help)"));
  } catch (const po::validation_error& e) {
    throw InvalidArgument(unreadable(e, parsed, all));
  } catch (const po::error& e) {
    throw InvalidArgument(text(e.what(), " (see --help)"));
  }
  check(common, values.count("threads") > 0, program);

  line.parameters = nlohmann::ordered_json::object();
  for (const auto& option : own.options()) {
    std::string name = option->long_name();
    if (values.count(name) == 0) continue;
    const nlohmann::ordered_json value = value_of(values[name].value());
    std::replace(name.begin(), name.end(), '-', '_');
    line.parameters[name] = value;
  }
  return line;
}

po::typed_value<std::string>* output_file(std::string* path, std::vector<io::file_format> formats, std::string option,
                                          std::string why) {
  return optional_output_file(path, std::move(formats), std::move(option), std::move(why))->required();
}

po::typed_value<std::string>* optional_output_file(std::string* path, std::vector<io::file_format> formats,
                                                   std::string option, std::string why) {
  return po::value(path)->value_name("FILE")->notifier(
      [allowed = std::move(formats), option = std::move(option), why = std::move(why)](const std::string& value) {
        try {
          io::format_of(value, allowed);
        } catch (const FileError& e) {
          throw InvalidArgument(text("--", option, ": ", e.what(), why.empty() ? "" : ": ", why));
        }
        try {
          io::check_writable(value);
        } catch (const FileError& e) {
          throw InvalidArgument(text("--", option, ": ", e.what()));
        }
      });
}

std::vector<std::string> split(const std::string& list, char separator) {
  std::vector<std::string> words;
  std::istringstream in(list + separator);
  for (std::string word; std::getline(in, word, separator);) words.push_back(word);
  return words;
}

void require_absent(const command_line& line, std::initializer_list<const char*> options, std::string_view why) {
  for (const char* option : options)
    if (line.option_names.contains(option)) throw InvalidArgument(text("--", option, " ", why));
}

void require_distinct_files(const option_files& inputs, const option_files& outputs) {
  option_files before = inputs;
  for (const auto& [option, path] : outputs) {
    for (const auto& [other, value] : before) {
      if (path.empty() || value.empty()) continue;
      std::error_code ignored;
      if (path == value || std::filesystem::equivalent(path, value, ignored))
        throw InvalidArgument(text(option, " must be another file than ", other, " (", option, "=", path, ")"));
    }
    before.emplace_back(option, path);
  }
}

}  // namespace quintet::driver
