//! Colours by the names that users of Matplotlib know.

use super::Rgb;

/// Matplotlib's letters.
const LETTERS: [(&str, Rgb); 8] = [
    ("b", [0x00, 0x00, 0xff]),
    ("g", [0x00, 0x80, 0x00]),
    ("r", [0xff, 0x00, 0x00]),
    ("c", [0x00, 0xbf, 0xbf]),
    ("m", [0xbf, 0x00, 0xbf]),
    ("y", [0xbf, 0xbf, 0x00]),
    ("k", [0x00, 0x00, 0x00]),
    ("w", [0xff, 0xff, 0xff]),
];

/// Matplotlib's ten colours of lines, by the names `tab:NAME` and `C0` to `C9`.
const LINES: [(&str, Rgb); 10] = [
    ("blue", [0x1f, 0x77, 0xb4]),
    ("orange", [0xff, 0x7f, 0x0e]),
    ("green", [0x2c, 0xa0, 0x2c]),
    ("red", [0xd6, 0x27, 0x28]),
    ("purple", [0x94, 0x67, 0xbd]),
    ("brown", [0x8c, 0x56, 0x4b]),
    ("pink", [0xe3, 0x77, 0xc2]),
    ("gray", [0x7f, 0x7f, 0x7f]),
    ("olive", [0xbc, 0xbd, 0x22]),
    ("cyan", [0x17, 0xbe, 0xcf]),
];

/// The colour of a name: `#rrggbb`, a name of CSS, a letter, `tab:blue` or `C3`.
pub(crate) fn named(text: &str) -> Option<Rgb> {
    let text = text.trim();
    let lower = text.to_lowercase();
    if let Some((_, rgb)) = LETTERS.iter().find(|(letter, _)| *letter == lower) {
        return Some(*rgb);
    }
    if let Some(name) = lower.strip_prefix("tab:") {
        let name = if name == "grey" { "gray" } else { name };
        return LINES.iter().find(|(known, _)| *known == name).map(|(_, rgb)| *rgb);
    }
    if let Some(number) = text.strip_prefix('C').and_then(|number| number.parse::<usize>().ok()) {
        return Some(LINES[number % LINES.len()].1);
    }
    let [red, green, blue, _] = csscolorparser::parse(text).ok()?.to_rgba8();
    Some([red, green, blue])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_css_and_of_matplotlib_are_known() {
        for (name, rgb) in [
            ("#009E73", [0x00, 0x9e, 0x73]),
            ("red", [0xff, 0, 0]),
            ("r", [0xff, 0, 0]),
            ("tab:blue", [0x1f, 0x77, 0xb4]),
            ("tab:grey", [0x7f, 0x7f, 0x7f]),
            ("C11", [0xff, 0x7f, 0x0e]),
            ("royalblue", [65, 105, 225]),
        ] {
            assert_eq!(named(name), Some(rgb), "{name}");
        }
        assert_eq!(named("no colour"), None);
    }
}
