//! `obstacle_map` of the world (robot-world specification, section 14.1).

use std::path::{Path, PathBuf};

use promenade_scenario::decode::Fields;
use promenade_scenario::tree::Node;

use super::Reader;
use super::value::{Limit, Strictness};
use crate::map::source::{self, MAX_CELLS, Occupancy, Perlin};
use crate::spec::{MapGrid, Settings};

const IMAGE_KEYS: [&str; 2] = ["name", "path"];
const PERLIN_KEYS: [&str; 7] = ["name", "resolution", "complexity", "fill", "fractal", "attenuation", "seed"];
const SOURCES: [(&str, Source); 2] = [("image", Source::Image), ("perlin", Source::Perlin)];
/// Most octaves of the noise.
const MAX_OCTAVES: i64 = 16;

#[derive(Clone, Copy)]
enum Source {
    Image,
    Perlin,
}

impl<'a> Reader<'_> {
    /// The map, of which every `every`-th cell is kept.
    pub(super) fn map(
        &mut self,
        node: &'a Node,
        path: &str,
        world: &Settings,
        every: usize,
    ) -> Option<MapGrid> {
        let (occupancy, source) = if node.as_str().is_some() {
            self.image_map(node, path)?
        } else {
            let fields = self.d.fields(node, path, "a path or a mapping with a name", &[])?;
            if fields.get("name").is_none() {
                self.d.error(fields.at, &fields.path_of("name"), "required; known: image, perlin");
                return None;
            }
            match self.value(&fields, "name", |r, n, p| r.choice(n, p, "map source", &SOURCES))? {
                Source::Image => {
                    self.finish(&fields, &IMAGE_KEYS, Strictness::Lenient);
                    self.required(&fields, "path", "image, the file to read")?;
                    self.value(&fields, "path", Self::image_map)?
                }
                Source::Perlin => (self.perlin_map(&fields, world)?, None),
            }
        };
        Some(occupancy.grid(world, every, source))
    }

    fn required(&mut self, fields: &Fields<'a>, key: &str, what: &str) -> Option<()> {
        if fields.get(key).is_none() {
            self.d.error(fields.at, &fields.path_of(key), format!("required for {what}"));
        }
        fields.get(key).map(drop)
    }

    fn image_map(&mut self, node: &'a Node, path: &str) -> Option<(Occupancy, Option<PathBuf>)> {
        let name = self.d.text(node, path)?;
        let beside = self.file.parent().unwrap_or(Path::new("")).join(&name);
        let found = [beside, PathBuf::from(&name)].into_iter().find(|path| path.is_file());
        let Some(file) = found else {
            let beside = self.file.parent().filter(|folder| !folder.as_os_str().is_empty());
            let working = std::env::current_dir().unwrap_or_default();
            let folders: Vec<PathBuf> = beside.map(Path::to_owned).into_iter().chain([working]).collect();
            let shown = super::value::shortened(&name);
            self.d.error(node.at, path, format!("{shown:?}: {}", super::not_found(&folders)));
            return None;
        };
        match source::image(&file) {
            Ok(occupancy) => Some((occupancy, Some(file))),
            Err(error) => {
                self.d.error(node.at, path, format!("{}: {error}", file.display()));
                None
            }
        }
    }

    fn perlin_map(&mut self, fields: &Fields<'a>, world: &Settings) -> Option<Occupancy> {
        self.finish(fields, &PERLIN_KEYS, Strictness::Lenient);
        self.required(fields, "resolution", "perlin, metres per cell")?;
        let resolution = self.value(fields, "resolution", |r, n, p| r.limited(n, p, Limit::Positive))?;
        let [columns, rows] = [world.width, world.height].map(|size| (size / resolution).round_ties_even());
        if columns < 1.0 || rows < 1.0 || columns * rows > MAX_CELLS as f64 {
            let message = format!(
                "makes {columns} x {rows} cells of a world of {:?} x {:?} m; 1 to {MAX_CELLS} are accepted",
                world.width, world.height
            );
            self.d.error(fields.key_at("resolution"), &fields.path_of("resolution"), message);
            return None;
        }
        let seed = self.value(fields, "seed", |r, n, p| r.count(n, p, 0, i64::MAX)).unwrap_or(0);
        Some(source::perlin(&Perlin {
            columns: columns as usize,
            rows: rows as usize,
            complexity: self.number_or(fields, "complexity", Limit::Positive, 0.142_857),
            fill: self.number_or(fields, "fill", Limit::Share, 0.38),
            octaves: self.value(fields, "fractal", |r, n, p| r.count(n, p, 1, MAX_OCTAVES)).unwrap_or(1)
                as u32,
            attenuation: self.number_or(fields, "attenuation", Limit::Positive, 0.5),
            seed: seed as u64,
        }))
    }
}
