// The version, which the build sets from the one place that knows it: project() in CMakeLists.txt.
#pragma once

#ifndef PARLANCE_VERSION
#define PARLANCE_VERSION "unversioned"
#endif
