//! tokio's tasks under the case names and the options of Google Benchmark, on one OS thread.

#[path = "../cases.rs"]
mod cases;
#[path = "../counting.rs"]
mod counting;

use std::time::Instant;

struct Options {
    list: bool,
    filter: String,
    seconds: f64,
    repetitions: u32,
}

fn options() -> Options {
    let mut options = Options { list: false, filter: String::new(), seconds: 0.1, repetitions: 1 };
    for argument in std::env::args().skip(1) {
        let (name, value) = argument.split_once('=').unwrap_or((&argument, ""));
        match name {
            "--benchmark_list_tests" => options.list = true,
            "--benchmark_filter" => options.filter = value.to_string(),
            "--benchmark_min_time" => options.seconds = value.parse().unwrap(),
            "--benchmark_repetitions" => options.repetitions = value.parse().unwrap(),
            _ => {}
        }
    }
    options
}

/// Of a filter `^NAME(...)?$` the name: there are no regular expressions in the standard library.
fn name_in(filter: &str) -> &str {
    let name = filter.trim_start_matches('^').trim_end_matches('$');
    name.split_once('(').map_or(name, |(name, _)| name)
}

fn main() {
    let options = options();
    let mut results = Vec::new();
    for (name, run) in cases::all() {
        if options.list {
            println!("{name}");
            continue;
        }
        if name != name_in(&options.filter) {
            continue;
        }
        for _ in 0..options.repetitions {
            let (mut operations, mut bytes) = (0u64, 0.0);
            let (allocations, began, cpu) = (counting::allocations(), Instant::now(), counting::cpu_ns());
            while operations == 0 || began.elapsed().as_secs_f64() < options.seconds {
                let (some, held) = run();
                operations += some;
                bytes = held;
            }
            results.push(format!(
                r#"{{"name": "{name}", "run_type": "iteration", "cpu_time": {}, "time_unit": "ns", "bytes": {bytes}, "allocations": {}}}"#,
                (counting::cpu_ns() - cpu) as f64 / operations as f64,
                (counting::allocations() - allocations) as f64 / operations as f64
            ));
        }
    }
    if !options.list {
        println!(r#"{{"benchmarks": [{}]}}"#, results.join(", "));
    }
}
