//! `arena_humansim_viz_node`: see `promenade::arena_humansim_viz`.

fn main() -> anyhow::Result<()> {
    promenade::arena_humansim_viz::run()
}
