//! Writes the good inputs of every target into `FOLDER/TARGET/`, for cargo-fuzz to start from.

use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let root = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "fuzz/corpus".into()));
    for target in tessarray_fuzz::targets() {
        let folder = root.join(&target.name);
        std::fs::create_dir_all(&folder)?;
        for (number, seed) in target.seeds.iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{number}")), seed)?;
        }
    }
    Ok(())
}
