// The version of the library, for the preprocessor.
//
// This is its only place: CMakeLists.txt reads it from here for the packages, `parlance --version` and parlance.pc.
// Before 1.0, a new minor version may break programs that compile with an older one.
#pragma once

#define PARLANCE_VERSION_MAJOR 0
#define PARLANCE_VERSION_MINOR 1
#define PARLANCE_VERSION_PATCH 0
/// "0.1.0"
#define PARLANCE_VERSION "0.1.0"
/// One number that grows with the version, to compare with #if: 100 for 0.1.0, 10203 for 1.2.3.
#define PARLANCE_VERSION_NUMBER (PARLANCE_VERSION_MAJOR * 10000 + PARLANCE_VERSION_MINOR * 100 + PARLANCE_VERSION_PATCH)
