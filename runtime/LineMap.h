// Line numbers in code that was compiled from an earlier state of its file: functions may since have moved as a whole, which changes no code.
#pragma once
#include "runtime/ModuleDescription.h"
#include <string>
#include <vector>

namespace tk::runtime {

class LineMap {
public:
  LineMap() = default;
  /// From where the functions stood to where they stand now. Functions that are gone are left out.
  LineMap(std::string oldFile, const std::vector<FunctionLines> &before, std::string newFile, const std::vector<FunctionLines> &now);

  bool isIdentity() const { return pieces.empty() && oldFile == newFile; }
  /// Where a place of the file stands now; places elsewhere (in the standard library) stay.
  void move(std::string &file, unsigned &line) const;
  /// A message that begins with "file:line: ".
  std::string moved(const std::string &message) const;

private:
  struct Piece {
    unsigned first, last, newFirst;
  };
  std::string oldFile, newFile;
  std::vector<Piece> pieces;
};

} // namespace tk::runtime
