// Values of JSON files, without the seconds that nlohmann's headers take in every test that includes them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

namespace quintet::test {

/// A value of any kind; what does not exist or is of another kind throws.
class json_value {
 public:
  /// Throws for what is no JSON.
  static json_value parse(const std::string& text);

  json_value(bool value);
  json_value(int value) : json_value(std::int64_t(value)) {}
  json_value(unsigned value) : json_value(std::int64_t(value)) {}
  json_value(std::int64_t value);
  json_value(std::uint64_t value);
  json_value(double value);
  json_value(const char* value) : json_value(std::string(value)) {}
  json_value(const std::string& value);
  static json_value array(std::initializer_list<json_value> values = {});

  /// Of an object, and of an array.
  json_value operator[](const std::string& key) const;
  json_value operator[](const char* key) const { return (*this)[std::string(key)]; }
  json_value operator[](int place) const;
  bool contains(const std::string& key) const;
  std::vector<std::string> keys() const;
  std::size_t size() const;

  bool is_number() const;
  double number() const;
  std::int64_t integer() const;
  std::string text() const;
  explicit operator bool() const;

  /// Numbers by value, whether they are integers or not; values of different kinds are different.
  friend bool operator==(const json_value& x, const json_value& y);
  friend std::ostream& operator<<(std::ostream& out, const json_value& value);

 private:
  struct node;
  explicit json_value(std::shared_ptr<const node> value) : node_(std::move(value)) {}

  std::shared_ptr<const node> node_;
};

}  // namespace quintet::test
