// What another correct execution may do beyond rounding each operation once. The defaults are those of a CPU.
#pragma once

namespace tk::interpret {

struct Tolerances {
  double divUlp = 0;        // error of / and sqrt in ulp (GPUs: 2); precise_divf and precise_sqrt stay exact
  double mathUlp = 2;       // error of elementary functions in ulp
  bool hardwareExp = false; // exp through exp2: |x| * 2^-23 relative on top
  bool contraction = false; // a product that feeds an addition may stay unrounded
};

} // namespace tk::interpret
