#include "support/json_value.hpp"

#include <nlohmann/json.hpp>
#include <ostream>

namespace quintet::test {

struct json_value::node {
  nlohmann::json value;
};

namespace {

template <class Node, class Value>
std::shared_ptr<const Node> made(Value&& value) {
  return std::make_shared<const Node>(Node{nlohmann::json(std::forward<Value>(value))});
}

}  // namespace

json_value json_value::parse(const std::string& text) { return json_value(made<node>(nlohmann::json::parse(text))); }

json_value::json_value(bool value) : node_(made<node>(value)) {}
json_value::json_value(std::int64_t value) : node_(made<node>(value)) {}
json_value::json_value(std::uint64_t value) : node_(made<node>(value)) {}
json_value::json_value(double value) : node_(made<node>(value)) {}
json_value::json_value(const std::string& value) : node_(made<node>(value)) {}

json_value json_value::array(std::initializer_list<json_value> values) {
  nlohmann::json all = nlohmann::json::array();
  for (const json_value& one : values) all.push_back(one.node_->value);
  return json_value(made<node>(std::move(all)));
}

json_value json_value::operator[](const std::string& key) const { return json_value(made<node>(node_->value.at(key))); }
json_value json_value::operator[](int place) const {
  return json_value(made<node>(node_->value.at(std::size_t(place))));
}
bool json_value::contains(const std::string& key) const { return node_->value.contains(key); }
std::vector<std::string> json_value::keys() const {
  std::vector<std::string> all;
  for (const auto& item : node_->value.items()) all.push_back(item.key());
  return all;
}
std::size_t json_value::size() const { return node_->value.size(); }

bool json_value::is_number() const { return node_->value.is_number(); }
double json_value::number() const { return node_->value.get<double>(); }
std::int64_t json_value::integer() const { return node_->value.get<std::int64_t>(); }
std::string json_value::text() const { return node_->value.get<std::string>(); }
json_value::operator bool() const { return node_->value.get<bool>(); }

bool operator==(const json_value& x, const json_value& y) { return x.node_->value == y.node_->value; }
std::ostream& operator<<(std::ostream& out, const json_value& value) { return out << value.node_->value; }

}  // namespace quintet::test
