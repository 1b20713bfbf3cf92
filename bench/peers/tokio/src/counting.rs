//! What a case used: CPU time, allocations, memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // One OS thread: no locked instruction is needed.
        ALLOCATIONS.store(ALLOCATIONS.load(Relaxed) + 1, Relaxed);
        System.alloc(layout)
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        System.dealloc(memory, layout)
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

pub fn allocations() -> u64 {
    ALLOCATIONS.load(Relaxed)
}

/// CPU time of this OS thread, from the scheduler's own account of it.
pub fn cpu_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse().unwrap()
}

pub fn resident_bytes() -> f64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() * 4096.0
}

/// A value that the compiler knows nothing of. std::hint has one only since Rust 1.66.
pub fn black_box<T>(value: T) -> T {
    let copy = unsafe { std::ptr::read_volatile(&value) };
    std::mem::forget(value);
    copy
}
