//! The `offbeat` program.

fn main() -> std::process::ExitCode {
    offbeat::cli::run()
}
