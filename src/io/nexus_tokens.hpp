// The words of a NEXUS file: comments left out, lines counted.
#pragma once

#include <string>
#include <string_view>

#include "io/line_reader.hpp"

namespace quintet::io {

class nexus_tokens {
 public:
  explicit nexus_tokens(const std::string& path, bool compressed);

  static constexpr int end_of_file = -1;
  /// The next character as it stands; '\n' at the end of a line.
  int peek() const {
    return at_end_ ? end_of_file : at_ < line_.size() ? static_cast<unsigned char>(line_[at_]) : '\n';
  }
  int get();
  /// Skips blanks, comments and, if asked, line ends.
  void skip(bool line_ends = true);

  /// A word, a quoted text (either quotes), or a single character of ; = , ( ) { } /. Empty at the end of the file.
  std::string token();
  /// The same, in lower case.
  std::string lower_token();
  /// Whether the last token was in quotes.
  bool was_quoted() const { return quoted_; }
  /// What is left of a word, up to a blank or one of `ends`; quoted names too.
  std::string name();
  /// Skips to behind the next semicolon.
  void skip_command();
  /// The rest of the command, up to its semicolon, with its comments.
  std::string raw_command();

  /// Line of the next character, from 1.
  std::int64_t line() const { return in_.number(); }
  std::int64_t token_line() const { return token_line_; }
  const std::string& path() const { return in_.file().path(); }
  [[noreturn]] void fail(const std::string& reason) const { fail(in_.number(), reason); }
  [[noreturn]] void fail(std::int64_t line, const std::string& reason) const;

 private:
  void next_line();
  void skip_comment();
  std::string quoted_text();

  line_reader in_;
  std::string_view line_;
  std::size_t at_ = 0;
  std::int64_t token_line_ = 1;
  bool at_end_ = false, quoted_ = false;
};

/// A part of a file for a message: short, without control characters.
std::string shown(std::string_view word);

/// ASCII letters in lower case.
std::string lower(std::string_view word);

}  // namespace quintet::io
