#pragma once

#include <liburing.h>
#include <optional>

/// What happens to the rings of this program, made by a copy of liburing's functions that come before its own.
namespace bide::test::changed_ring {

/// Rings made while it is set are restricted by the kernel: it answers a request of this opcode with EACCES, though it told
/// that it has it. Any other refusal at run time looks the same to the driver.
extern std::optional<unsigned> forbidden_opcode;
/// The kernel knows restrictions.
extern bool kernel_restricts;

/// Requests that repeat are answered with EINVAL, as a kernel that has none such does.
extern bool without_multishot;

/// The ring made last. What is put into it goes out with the driver's next call.
extern io_uring* last_made;

}  // namespace bide::test::changed_ring
