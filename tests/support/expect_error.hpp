// Expects an InvalidArgument whose text holds given words.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "quintet/core/error.hpp"

namespace quintet {

template <class Call>
void expect_invalid(Call call, const std::string& words) {
  try {
    call();
    ADD_FAILURE() << "no InvalidArgument: " << words;
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << "  got: " << error.what();
  }
}

}  // namespace quintet
