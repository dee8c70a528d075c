//! Where maps come from: an image, or noise (robot-world specification, section 14.1).
//!
//! The noise has a generator of its own, so that a map does not change what else a world draws.

use std::path::{Path, PathBuf};

use image::{DynamicImage, ImageError, ImageReader, Limits};
use promenade_kernel::generator::Generator;

use crate::spec::{MapGrid, Settings};

/// Most cells of a map before any are left out.
pub const MAX_CELLS: usize = 16_000_000;
/// Longest side of an image, pixels.
const MAX_SIDE: u32 = 32_768;
/// Most bytes that reading an image may take.
const MAX_IMAGE_BYTES: u64 = 256 * 1024 * 1024;
/// Size of the table of directions.
const TABLE: usize = 256;

/// Occupancy 0 to 100 of every cell, row by row from the bottom.
#[derive(Clone, Debug, PartialEq)]
pub struct Occupancy {
    columns: usize,
    values: Vec<f64>,
}

impl Occupancy {
    /// The map of a world, of which every `every`-th cell in both directions is kept.
    #[must_use]
    pub fn grid(&self, world: &Settings, every: usize, source: Option<PathBuf>) -> MapGrid {
        let every = every.max(1);
        let kept = self.values.chunks(self.columns).step_by(every);
        let values: Vec<f64> = kept.flat_map(|row| row.iter().step_by(every).copied()).collect();
        let columns = self.columns.div_ceil(every);
        let rows = values.len() / columns;
        let cell = [world.width / columns as f64, world.height / rows as f64];
        MapGrid { columns, rows, cell, origin: world.offset, values, source }
    }
}

/// Reads an image: white is free, black is occupied.
///
/// # Errors
/// When the file is no image that can be read, or has more than [`MAX_CELLS`] pixels.
pub fn image(path: &Path) -> Result<Occupancy, ImageError> {
    let mut reader = ImageReader::open(path)?.with_guessed_format()?;
    let mut limits = Limits::default();
    limits.max_image_width = Some(MAX_SIDE);
    limits.max_image_height = Some(MAX_SIDE);
    limits.max_alloc = Some(MAX_IMAGE_BYTES);
    reader.limits(limits);
    let image = reader.decode()?;
    if image.width() as usize * image.height() as usize > MAX_CELLS {
        let kind = image::error::LimitErrorKind::DimensionError;
        return Err(ImageError::Limits(image::error::LimitError::from_kind(kind)));
    }
    Ok(occupancy(&image))
}

fn occupancy(image: &DynamicImage) -> Occupancy {
    let columns = image.width() as usize;
    let is_gray = !image.color().has_color();
    let is_wide = image.color().bytes_per_pixel() / image.color().channel_count() > 1;
    let of = |[r, g, b]: [f64; 3]| {
        // Gray images carry the same number three times; the weights do not add up to one.
        let gray = if is_gray { r } else { 0.2989 * r + 0.5870 * g + 0.1140 * b };
        100.0 * (1.0 - gray)
    };
    let mut values: Vec<f64> = if is_wide {
        image.to_rgb16().pixels().map(|pixel| of(pixel.0.map(|x| f64::from(x) / 65_535.0))).collect()
    } else {
        image.to_rgb8().pixels().map(|pixel| of(pixel.0.map(|x| f64::from(x) / 255.0))).collect()
    };
    let rows = values.len() / columns;
    for row in 0..rows / 2 {
        let (lower, upper) = values.split_at_mut((rows - 1 - row) * columns);
        lower[row * columns..(row + 1) * columns].swap_with_slice(&mut upper[..columns]);
    }
    Occupancy { columns, values }
}

/// Gradient noise after Perlin (1985, ACM SIGGRAPH 19(3)), with the fade of 2002 and eight directions.
#[derive(Clone, Debug, PartialEq)]
pub struct Perlin {
    /// Cells in x.
    pub columns: usize,
    /// Cells in y.
    pub rows: usize,
    /// Waves per cell of the first octave.
    pub complexity: f64,
    /// Share of the cells that are occupied.
    pub fill: f64,
    /// Octaves, each with twice the frequency of the one before.
    pub octaves: u32,
    /// Octave k has the weight `attenuation / (k + 1)`.
    pub attenuation: f64,
    /// Of the map's own generator.
    pub seed: u64,
}

/// A map of noise: the highest cells are occupied.
#[must_use]
pub fn perlin(noise: &Perlin) -> Occupancy {
    let table = shuffled(noise.seed);
    let count = noise.columns * noise.rows;
    let height = |cell: usize| {
        let (x, y) = ((cell % noise.columns) as f64, (cell / noise.columns) as f64);
        (0..noise.octaves)
            .map(|octave| {
                let frequency = noise.complexity * f64::from(octave).exp2();
                noise.attenuation / f64::from(octave + 1)
                    * gradient_noise(&table, x * frequency, y * frequency)
            })
            .sum::<f64>()
    };
    let heights: Vec<f64> = (0..count).map(height).collect();
    let mut order: Vec<u32> = (0..count as u32).collect();
    order.sort_by(|a, b| heights[*b as usize].total_cmp(&heights[*a as usize]));
    let mut values = vec![0.0; count];
    let occupied = (noise.fill * count as f64).round_ties_even() as usize;
    for cell in &order[..occupied.min(count)] {
        values[*cell as usize] = 100.0;
    }
    Occupancy { columns: noise.columns, values }
}

/// The numbers below [`TABLE`] in an order of the seed (Fisher and Yates).
fn shuffled(seed: u64) -> Vec<u8> {
    let mut generator = Generator::seeded(seed);
    let mut table: Vec<u8> = (0..TABLE).map(|i| i as u8).collect();
    for last in (1..TABLE).rev() {
        table.swap(last, generator.choice(last as u32 + 1) as usize);
    }
    table
}

fn gradient_noise(table: &[u8], x: f64, y: f64) -> f64 {
    use std::f64::consts::FRAC_1_SQRT_2 as D;
    const DIRECTIONS: [[f64; 2]; 8] =
        [[1.0, 0.0], [D, D], [0.0, 1.0], [-D, D], [-1.0, 0.0], [-D, -D], [0.0, -1.0], [D, -D]];
    let (left, below) = (x.floor(), y.floor());
    let (u, v) = (x - left, y - below);
    let corner = |i: f64, j: f64| {
        let column = (left + i).rem_euclid(TABLE as f64) as usize;
        let row = (below + j).rem_euclid(TABLE as f64) as usize;
        let hash = table[(usize::from(table[column]) + row) % TABLE];
        let [dx, dy] = DIRECTIONS[usize::from(hash) % DIRECTIONS.len()];
        dx * (u - i) + dy * (v - j)
    };
    let fade = |t: f64| t * t * t * (t * (t * 6.0 - 15.0) + 10.0);
    let mix = |a: f64, b: f64, t: f64| a + t * (b - a);
    let (s, t) = (fade(u), fade(v));
    mix(mix(corner(0.0, 0.0), corner(1.0, 0.0), s), mix(corner(0.0, 1.0), corner(1.0, 1.0), s), t)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ReadOptions, WorldSpec};

    fn noise(seed: u64) -> Perlin {
        Perlin {
            columns: 40,
            rows: 30,
            complexity: 0.142_857,
            fill: 0.38,
            octaves: 3,
            attenuation: 0.5,
            seed,
        }
    }

    #[test]
    fn noise_fills_the_share_it_was_asked_for_and_follows_its_seed() {
        let map = perlin(&noise(7));
        assert_eq!(map.values.iter().filter(|value| **value > 50.0).count(), 456);
        assert_eq!(map, perlin(&noise(7)));
        assert_ne!(map, perlin(&noise(8)));
    }

    #[test]
    fn noise_is_smooth_and_zero_on_its_lattice() {
        let table = shuffled(1);
        assert_eq!(gradient_noise(&table, 3.0, 5.0), 0.0);
        for i in 0..500 {
            let (x, y) = (f64::from(i) * 0.037, f64::from(i) * 0.021);
            let step = gradient_noise(&table, x + 1e-4, y) - gradient_noise(&table, x, y);
            assert!(step.abs() < 1e-3, "jumps at {x}, {y}");
        }
    }

    #[test]
    fn noise_lies_in_patches_wider_than_a_cell() {
        let map = perlin(&noise(7));
        let is_full = |i: usize| map.values[i] > 50.0;
        let same = (0..map.values.len() - 1).filter(|i| is_full(*i) == is_full(i + 1)).count();
        assert!(same > 900, "{same} of 1199 neighbours alike");
    }

    #[test]
    fn the_lower_left_pixel_is_the_first_cell() {
        let picture = image::GrayImage::from_fn(4, 3, |x, y| image::Luma([(10 * x + 50 * y) as u8]));
        let map = occupancy(&DynamicImage::ImageLuma8(picture));
        let value = |x: u32, y: u32| 100.0 * (1.0 - f64::from(10 * x + 50 * y) / 255.0);
        assert_eq!(map.values[..2], [value(0, 2), value(1, 2)]);
        assert_eq!(map.values[8..], [value(0, 0), value(1, 0), value(2, 0), value(3, 0)]);
    }

    #[test]
    fn every_second_cell_can_be_kept_and_the_cells_still_fill_the_world() {
        let text = "world: {width: 6, height: 8, mdownsample: 2, obstacle_map: {name: perlin, resolution: 1, fill: 0.5}}";
        let spec = |text: &str| {
            let registry = crate::Registry::built_in();
            let loaded = WorldSpec::from_text(text, Path::new("w.yaml"), &registry, &ReadOptions::default());
            loaded.expect("a world").value.map.expect("a map")
        };
        let (whole, kept) = (spec(&text.replace("mdownsample: 2", "mdownsample: 1")), spec(text));
        assert_eq!((whole.columns, whole.rows, whole.cell), (6, 8, [1.0, 1.0]));
        assert_eq!((kept.columns, kept.rows, kept.cell), (3, 4, [2.0, 2.0]));
        for (i, value) in kept.values.iter().enumerate() {
            assert_eq!(*value, whole.values[i / 3 * 12 + i % 3 * 2], "cell {i}");
        }
    }

    #[test]
    fn colours_are_weighed_and_gray_is_taken_as_it_is() {
        let colour = image::RgbImage::from_pixel(1, 1, image::Rgb([255, 0, 0]));
        let red = occupancy(&DynamicImage::ImageRgb8(colour)).values[0];
        assert!((red - 100.0 * (1.0 - 0.2989)).abs() < 1e-12);
        let wide = image::ImageBuffer::<image::Luma<u16>, _>::from_pixel(1, 1, image::Luma([65_535]));
        assert_eq!(occupancy(&DynamicImage::ImageLuma16(wide)).values, [0.0]);
    }
}
