// Catch2 by one name: version 2 on Debian 12, version 3 on Ubuntu 24.04.
#pragma once
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
