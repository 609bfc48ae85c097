// One case of the accuracy suite: what cases.json says on one line, with one value for every parameter.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace quintet::accuracy {

struct test_case {
  std::string family, operation, type;  ///< "svd", "decompose", "float"
  nlohmann::ordered_json parameters;    ///< one value each, in the order of the file
  std::string axis;                     ///< the parameter that plots show errors against; empty: none
  bool fast = false;                    ///< belongs to the subset of --fast
  bool host_only = false;               ///< too large for the emulated device

  /// "svd/decompose/float/rows=32,batch=40"; a parameter "name" stands for all: "svd/stored/double/hilbert8_f64".
  std::string id() const;
  /// Throw std::runtime_error naming the case when the parameter is absent or of another kind.
  std::int64_t integer(const char* name) const;
  double real(const char* name) const;
  std::string text(const char* name) const;
  bool has(const char* name) const { return parameters.contains(name); }
};

/// Reads cases.json: {"cases": [line, ...]}. A line names "family" and "operation", and "type" (one or a list); "fast",
/// "host_only" and "axis" are as above; everything else is a parameter. A list stands for a case with each of its
/// values, several lists for all combinations. Throws std::runtime_error, naming the file, for what is no such file,
/// and for two lines that make the same case.
std::vector<test_case> read_cases(const std::string& path);

}  // namespace quintet::accuracy
