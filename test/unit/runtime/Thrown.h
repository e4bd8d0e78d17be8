// The text of the tk::Error that a call throws, empty when it throws none.
#pragma once
#include "tk/error.h"
#include <string>

template <typename Call> std::string thrown(Call call) {
  try {
    call();
  } catch (const tk::Error &error) {
    return error.what();
  }
  return "";
}

inline bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }
