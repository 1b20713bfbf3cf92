//! Each case does its work once, and returns how many operations that was, and the bytes that it held.

use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, Notify};
use tokio::time::{sleep, timeout};

use crate::counting::{black_box, resident_bytes};

const ROUNDS: u64 = 10_000;

pub type Case = Box<dyn Fn() -> (u64, f64)>;

pub fn all() -> Vec<(String, Case)> {
    let mut all: Vec<(String, Case)> = vec![
        ("B_await_child".into(), Box::new(await_child)),
        ("B_submit_detached".into(), Box::new(submit_detached)),
        ("B_submit_join".into(), Box::new(submit_join)),
        ("D_real_sleep_1e6".into(), Box::new(real_sleep)),
        ("E_event_hand_off".into(), Box::new(hand_off)),
        ("E_channel_1024".into(), Box::new(through_channel)),
        ("I_bytes_per_sleeping_thread".into(), Box::new(bytes_per_sleeper)),
        ("L_timeout_not_fired".into(), Box::new(timeout_not_fired)),
    ];
    let mut size = 1;
    while size <= 1_000_000 {
        all.push((format!("A_yield/{size}"), Box::new(move || yields(size))));
        if size > 1 {
            all.push((format!("D_virtual_sleep/{size}"), Box::new(move || virtual_sleep(size))));
        }
        size *= 10;
    }
    all
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}

fn yields(threads: u64) -> (u64, f64) {
    let each = (1_000_000 / threads).max(20);
    runtime().block_on(async {
        let tasks: Vec<_> = (0..threads)
            .map(|_| {
                tokio::spawn(async move {
                    for _ in 0..each {
                        tokio::task::yield_now().await;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    (threads * each, 0.0)
}

async fn child(value: u64) -> u64 {
    value
}

/// Boxed, as whatever is not known at compile time or recursive has to be; else there is no call to measure.
fn await_child() -> (u64, f64) {
    runtime().block_on(async {
        for i in 0..ROUNDS {
            let boxed: std::pin::Pin<Box<dyn std::future::Future<Output = u64>>> = black_box(Box::pin(child(i)));
            black_box(boxed.await);
        }
    });
    (ROUNDS, 0.0)
}

fn submit_detached() -> (u64, f64) {
    runtime().block_on(async {
        for _ in 0..ROUNDS / 1000 {
            for _ in 0..1000 {
                tokio::spawn(async {});
            }
            tokio::task::yield_now().await;
        }
    });
    (ROUNDS, 0.0)
}

fn submit_join() -> (u64, f64) {
    runtime().block_on(async {
        for i in 0..ROUNDS {
            black_box(tokio::spawn(child(i)).await.unwrap());
        }
    });
    (ROUNDS, 0.0)
}

/// splitmix64, so that the sleeps are everyone's.
fn random_below(state: &mut u64, bound: u64) -> u64 {
    *state = state.wrapping_add(0x9e3779b97f4a7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d049bb133111eb);
    (z ^ (z >> 31)) % bound
}

/// tokio's timers know milliseconds alone: longer sleeps, so that as few as elsewhere fall together.
fn virtual_sleep(threads: u64) -> (u64, f64) {
    let each = (100_000 / threads).clamp(1, 1000);
    let paused = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    paused.block_on(async {
        let tasks: Vec<_> = (0..threads)
            .map(|seed| {
                tokio::spawn(async move {
                    let mut state = seed;
                    for _ in 0..each {
                        sleep(Duration::from_millis(1 + random_below(&mut state, 1_000_000))).await;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    (threads * each, 0.0)
}

fn real_sleep() -> (u64, f64) {
    let threads = 1_000_000;
    runtime().block_on(async {
        let mut state = 1;
        let tasks: Vec<_> = (0..threads)
            .map(|_| {
                let duration = Duration::from_nanos(1 + random_below(&mut state, 200_000_000));
                tokio::spawn(async move { sleep(duration).await })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    (threads, 0.0)
}

fn hand_off() -> (u64, f64) {
    runtime().block_on(async {
        let (ping, pong) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let play = |mine: Arc<Notify>, other: Arc<Notify>| async move {
            for _ in 0..ROUNDS {
                mine.notified().await;
                other.notify_one();
            }
        };
        let first = tokio::spawn(play(ping.clone(), pong.clone()));
        let second = tokio::spawn(play(pong.clone(), ping.clone()));
        ping.notify_one();
        first.await.unwrap();
        second.await.unwrap();
    });
    (2 * ROUNDS, 0.0)
}

fn through_channel() -> (u64, f64) {
    runtime().block_on(async {
        let (sender, mut receiver) = mpsc::channel(1024);
        let receiving = tokio::spawn(async move {
            while let Some(item) = receiver.recv().await {
                black_box(item);
            }
        });
        tokio::spawn(async move {
            for i in 0..ROUNDS {
                sender.send(i).await.unwrap();
            }
        });
        receiving.await.unwrap();
    });
    (ROUNDS, 0.0)
}

fn bytes_per_sleeper() -> (u64, f64) {
    let threads = 1_000_000;
    let before = resident_bytes();
    let bytes = runtime().block_on(async {
        for _ in 0..threads {
            tokio::spawn(sleep(Duration::from_secs(3600)));
        }
        tokio::task::yield_now().await;
        resident_bytes() - before
    });
    (threads, bytes / threads as f64)
}

fn timeout_not_fired() -> (u64, f64) {
    runtime().block_on(async {
        for i in 0..ROUNDS {
            black_box(timeout(Duration::from_secs(3600), child(i)).await.unwrap());
        }
    });
    (ROUNDS, 0.0)
}
