#pragma once

#include <string_view>

namespace bide_jobs {

/// Whether a host as URLs and the option --bind write it, without a port, is this machine and no other: `localhost`, an
/// address of 127.0.0.0/8, `::1` or `[::1]`. A name that only looks like an address is none: anyone may register
/// 127.example.org, and have a browser take it for this machine.
bool is_loopback(std::string_view host);

}  // namespace bide_jobs
