//! `possess`: see `promenade::possess`.

fn main() -> anyhow::Result<()> {
    promenade::possess::run()
}
