#include "io/nexus_tokens.hpp"

#include "quintet/core/error.hpp"

namespace quintet::io {

namespace {

bool is_blank(int c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r'; }
bool is_mark(int c) {
  return c > 0 && std::string_view(";=,(){}/").find(static_cast<char>(c)) != std::string_view::npos;
}

}  // namespace

std::string shown(std::string_view word) {
  std::string result(word.substr(0, 24));
  for (char& c : result)
    if (static_cast<unsigned char>(c) < 32 || c == 127) c = '?';
  return word.size() > 24 ? result + "..." : result;
}

std::string lower(std::string_view word) {
  std::string result(word);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

nexus_tokens::nexus_tokens(const std::string& path, bool compressed) : in_(path, compressed) { next_line(); }

void nexus_tokens::fail(std::int64_t line, const std::string& reason) const { throw FileError(path(), line, reason); }

void nexus_tokens::next_line() {
  at_ = 0;
  at_end_ = !in_.next(line_);
  if (at_end_) line_ = {};
}

int nexus_tokens::get() {
  const int c = peek();
  if (c == end_of_file) return c;
  if (at_ < line_.size())
    ++at_;
  else
    next_line();
  return c;
}

void nexus_tokens::skip_comment() {
  const std::int64_t begin = line();
  for (std::int64_t depth = 0;;) {
    const int c = get();
    if (c == end_of_file) fail(begin, "a comment begins here and has no end \"]\"");
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (depth == 0) return;
  }
}

void nexus_tokens::skip(bool line_ends) {
  while (true) {
    const int c = peek();
    if (c == '[')
      skip_comment();
    else if (is_blank(c) || (line_ends && c == '\n'))
      get();
    else
      return;
  }
}

std::string nexus_tokens::quoted_text() {
  const std::int64_t begin = line();
  const int quote = get();
  std::string word;
  while (true) {
    const int c = get();
    if (c == end_of_file) fail(begin, "a text in quotes begins here and has no end");
    if (c != quote)
      word += static_cast<char>(c);
    else if (quote == '\'' && peek() == '\'')
      word += static_cast<char>(get());
    else
      return word;
  }
}

std::string nexus_tokens::token() {
  skip();
  token_line_ = line();
  const int first = peek();
  quoted_ = first == '\'' || first == '"';
  if (quoted_) return quoted_text();
  if (first == end_of_file) return {};
  if (is_mark(first)) return std::string(1, static_cast<char>(get()));
  std::string word;
  for (int c = first; c != end_of_file && c != '\n' && !is_blank(c) && !is_mark(c) && c != '['; c = peek())
    word += static_cast<char>(get());
  return word;
}

std::string nexus_tokens::lower_token() { return lower(token()); }

std::string nexus_tokens::name() {
  if (peek() == '\'' || peek() == '"') return quoted_text();
  std::string word;
  for (int c = peek(); c != end_of_file && c != '\n' && !is_blank(c) && c != ';' && c != '['; c = peek())
    word += static_cast<char>(get());
  return word;
}

void nexus_tokens::skip_command() {
  const std::int64_t begin = line();
  for (std::string word = token(); word != ";" || quoted_; word = token())
    if (word.empty() && peek() == end_of_file) fail(begin, "a command begins here and has no end \";\"");
}

std::string nexus_tokens::raw_command() {
  const std::int64_t begin = line();
  std::string text;
  char inside = 0;  // ' or [ while in a quote or comment
  for (int c = get(); c != ';' || inside != 0; c = get()) {
    if (c == end_of_file) fail(begin, "a command begins here and has no end \";\"");
    if (inside == 0 && (c == '\'' || c == '['))
      inside = static_cast<char>(c);
    else if (inside != 0 && c == (inside == '[' ? ']' : '\''))
      inside = 0;
    text += static_cast<char>(c);
  }
  return text;
}

}  // namespace quintet::io
