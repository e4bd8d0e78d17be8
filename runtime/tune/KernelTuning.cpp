// Which configuration a tuned kernel is launched with.
#include "runtime/KernelImpl.h"
#include <fmt/format.h>

namespace tk::runtime {

const TuneConfig &chooseConfig(Kernel::Impl &kernel, const Stream &, const Grid &, const BoundLaunch &) {
  throw Error(ErrorKind::User, fmt::format("`{}` is tuned, which is not available yet: give its parameters with the launch", kernel.description.name));
}

} // namespace tk::runtime
