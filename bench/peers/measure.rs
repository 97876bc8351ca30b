//! The clock of the Rust peers: an operation is timed in samples of at least 20 µs, and the median of them is the answer.
use serde_json::{json, Value as Json};
use std::time::{Duration, Instant};

const SAMPLE: Duration = Duration::from_micros(20);
const MIN_SAMPLES: usize = 3;

fn run_batch<T>(
    count: usize,
    op: &mut dyn FnMut() -> Result<T, String>,
) -> Result<Duration, String> {
    let start = Instant::now();
    for _ in 0..count {
        std::hint::black_box(op()?);
    }
    Ok(start.elapsed())
}

pub fn measure<T>(min: Duration, mut op: impl FnMut() -> Result<T, String>) -> Result<Json, String> {
    let mut batch = 1;
    while run_batch(batch, &mut op)? < SAMPLE {
        batch *= 2;
    }
    let (mut samples, mut total) = (Vec::new(), Duration::ZERO);
    while total < min || samples.len() < MIN_SAMPLES {
        let took = run_batch(batch, &mut op)?;
        total += took;
        samples.push(took.as_nanos() as f64 / batch as f64);
    }
    samples.sort_by(f64::total_cmp);
    Ok(json!({"ns_per_op": samples[samples.len() / 2], "ops": batch * samples.len()}))
}
