//! `arena_humansim`: see `promenade::arena_humansim`.

fn main() -> anyhow::Result<()> {
    promenade::arena_humansim::run()
}
