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

/// The same; an error of another kind gives "of another kind: ..." .
template <typename Call> std::string thrown(tk::ErrorKind kind, Call call) {
  try {
    call();
  } catch (const tk::Error &error) {
    return error.kind() == kind ? error.what() : std::string("of another kind: ") + error.what();
  }
  return "";
}

inline bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }
