//! `robot_world`: see `promenade::robot_world`.

fn main() -> anyhow::Result<()> {
    promenade::robot_world::run()
}
