// Arrays in npy's format as parts of other files.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "io/input_file.hpp"
#include "quintet/io/matrix.hpp"

namespace quintet::io {

/// As read_npy() of a file; messages call it source.path().
template <class T>
array<T> read_npy(byte_source& source);

/// The word of an array that is a single text, of bytes or of Unicode; only ASCII has a meaning here.
std::string read_npy_word(byte_source& source);

/// The bytes in front of the elements of a row-major array.
template <class T>
std::string npy_header_text(std::span<const std::int64_t> shape);

/// The whole array that is this word, as bytes.
std::string npy_word(std::string_view word);

}  // namespace quintet::io
