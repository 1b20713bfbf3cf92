#pragma once

#include <string>

namespace bide {

/// What a primitive is called in reports: `mutex`, or `mutex "bus"` when it was given a name.
std::string named(const char* kind, const char* name);

}  // namespace bide
