// st.async and red.async: PTX ISA 9.7.9.12 and 9.7.13.7.
#include "runtime/device/emulated/Mbarrier.h"

namespace tk::emulated {

void decodeStAsync(Decoding &d) { d.fail("not supported"); }
void decodeStBulk(Decoding &d) { d.fail("not supported"); }
void decodeBulk(Decoding &d, bool reduces) { d.fail("not supported"); }
void decodeRedAsync(Decoding &d) { d.fail("not supported"); }

} // namespace tk::emulated
