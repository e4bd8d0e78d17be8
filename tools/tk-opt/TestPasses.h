// Passes that only tk-opt has, to show what analyses find.
#pragma once

namespace tk::test {
void registerTestAccessForm();
void registerTestAxisInfo();
} // namespace tk::test
