//! Hands the version of minijinja that Cargo.lock holds to the engine, which reports it.
fn main() {
    println!("cargo:rerun-if-changed=Cargo.lock");
    let lock = std::fs::read_to_string("Cargo.lock").expect("Cargo.lock is beside build.rs");
    let version = lock
        .split_once("name = \"minijinja\"\nversion = \"")
        .and_then(|(_, rest)| rest.split('"').next())
        .expect("Cargo.lock names minijinja");
    println!("cargo:rustc-env=MINIJINJA_VERSION={version}");
}
