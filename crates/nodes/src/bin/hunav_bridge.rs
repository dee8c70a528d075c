//! `hunav_bridge`: see `promenade::hunav::bridge`.

fn main() -> anyhow::Result<()> {
    promenade::hunav::bridge::run()
}
