#include "accuracy/test_case.hpp"

#include <fstream>
#include <set>
#include <stdexcept>

namespace quintet::accuracy {

namespace {

using json = nlohmann::ordered_json;

std::string plain(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string all;
  for (const json& one : value) all += (all.empty() ? "" : "..") + plain(one);
  return all;
}

template <class T>
T parameter(const test_case& c, const char* name) {
  try {
    return c.parameters.at(name).get<T>();
  } catch (const json::exception& error) {
    throw std::runtime_error("case " + c.id() + ": parameter '" + name + "': " + error.what());
  }
}

// All combinations of the line's lists.
void expand(const json& line, const std::string& path, std::vector<test_case>& cases) {
  std::vector<json> made{json::object()};
  for (const auto& [name, value] : line.items()) {
    std::vector<json> longer;
    for (const json& one : made)
      for (const json& choice : value.is_array() ? value : json::array({value})) {
        longer.push_back(one);
        longer.back()[name] = choice;
      }
    made = std::move(longer);
  }
  for (json& one : made) {
    test_case c;
    const auto take = [&](const char* name, auto fallback) {
      const auto value = one.value(name, fallback);
      one.erase(name);
      return value;
    };
    c.family = take("family", std::string());
    c.operation = take("operation", std::string());
    c.type = take("type", std::string());
    c.axis = take("axis", std::string());
    c.fast = take("fast", false);
    c.host_only = take("host_only", false);
    c.parameters = one;
    if (c.family.empty() || c.operation.empty() || c.type.empty())
      throw std::runtime_error(path + ": a case needs family, operation and type: " + line.dump());
    cases.push_back(std::move(c));
  }
}

}  // namespace

std::string test_case::id() const {
  std::string all = family + "/" + operation + "/" + type;
  if (has("name")) return all + "/" + plain(parameters["name"]);
  const char* separator = "/";
  for (const auto& [name, value] : parameters.items()) {
    all += separator + name + "=" + plain(value);
    separator = ",";
  }
  return all;
}

std::int64_t test_case::integer(const char* name) const { return parameter<std::int64_t>(*this, name); }
double test_case::real(const char* name) const { return parameter<double>(*this, name); }
std::string test_case::text(const char* name) const { return parameter<std::string>(*this, name); }

std::vector<test_case> read_cases(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  std::vector<test_case> cases;
  try {
    const json table = json::parse(file);
    for (const json& line : table.at("cases")) expand(line, path, cases);
  } catch (const json::exception& error) {
    throw std::runtime_error(path + ": " + error.what());
  }
  std::set<std::string> seen;
  for (const test_case& c : cases)
    if (!seen.insert(c.id()).second) throw std::runtime_error(path + ": two cases " + c.id());
  return cases;
}

}  // namespace quintet::accuracy
