//! A picture and two lines in a terminal, and the keys pressed there. The terminal is always given back as it was.

use std::io::{IsTerminal, Write, stdin, stdout};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, poll, read};
use crossterm::style::{Color, Colors, Print, ResetColor, SetColors};
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode, size,
};
use crossterm::{cursor, execute, queue};

use super::drive::Press;
use crate::draw::{Canvas, Rgb};

/// Lines under the picture.
const LINES: u16 = 2;

/// A terminal in raw mode, until dropped.
pub(super) struct Terminal {
    /// The two colours of every place, as they are shown.
    cells: Vec<[Rgb; 2]>,
    columns: usize,
    true_colour: bool,
}

impl Terminal {
    /// Takes the terminal over.
    pub(super) fn open() -> Result<Self> {
        ensure!(
            stdin().is_terminal() && stdout().is_terminal(),
            "--keyboard needs a terminal; start it in one, without a pipe or redirection"
        );
        enable_raw_mode().context("cannot take the terminal over")?;
        let colours = std::env::var("COLORTERM").unwrap_or_default();
        let terminal =
            Self { cells: Vec::new(), columns: 0, true_colour: ["truecolor", "24bit"].contains(&&*colours) };
        execute!(stdout(), EnterAlternateScreen, cursor::Hide).context("cannot take the terminal over")?;
        Ok(terminal)
    }

    /// The first press that comes within this time; a terminal that is gone counts as [`Press::Quit`].
    pub(super) fn press(&self, within: Duration) -> Option<Press> {
        match poll(within) {
            Ok(false) => None,
            Ok(true) => match read() {
                Ok(Event::Key(key)) => meaning(key),
                Ok(_) => None,
                Err(_) => Some(Press::Quit),
            },
            Err(_) => Some(Press::Quit),
        }
    }

    /// Pixels that a picture may have: two in height for every line of text.
    pub(super) fn pixels(&self) -> [u32; 2] {
        let (columns, lines) = size().unwrap_or((80, 24));
        [u32::from(columns.max(8)), 2 * u32::from(lines.saturating_sub(LINES).max(4))]
    }

    /// Shows a picture and the lines under it. What is shown already is not sent again.
    pub(super) fn show(&mut self, picture: &Canvas, lines: [&str; 2]) -> std::io::Result<()> {
        let mut out = stdout().lock();
        let [width, height] = picture.size();
        let (columns, rows) = (width as usize, height.div_ceil(2) as usize);
        if self.columns != columns || self.cells.len() != columns * rows {
            queue!(out, Clear(ClearType::All))?;
            self.columns = columns;
            self.cells = vec![[[1, 2, 3]; 2]; columns * rows];
        }
        let mut next = None;
        for row in 0..rows {
            for column in 0..columns {
                let (x, y) = (column as u32, 2 * row as u32);
                let wanted = [picture.pixel(x, y), picture.pixel(x, (y + 1).min(height - 1))];
                let index = row * columns + column;
                if self.cells[index] == wanted {
                    continue;
                }
                if next != Some(index) {
                    queue!(out, cursor::MoveTo(column as u16, row as u16))?;
                }
                let [upper, lower] = wanted.map(|rgb| self.colour(rgb));
                queue!(out, SetColors(Colors::new(upper, lower)), Print('\u{2580}'))?;
                self.cells[index] = wanted;
                next = (column + 1 < columns).then_some(index + 1);
            }
        }
        queue!(out, ResetColor)?;
        for (number, line) in lines.into_iter().enumerate() {
            let room = self.pixels()[0] as usize;
            let cut: String = line.chars().take(room).collect();
            queue!(
                out,
                cursor::MoveTo(0, (rows + number) as u16),
                Print(cut),
                Clear(ClearType::UntilNewLine)
            )?;
        }
        out.flush()
    }

    fn colour(&self, rgb: Rgb) -> Color {
        let [r, g, b] = rgb;
        if self.true_colour {
            return Color::Rgb { r, g, b };
        }
        // The cube of six shades each that terminals without true colours have.
        let [r, g, b] = rgb.map(|part| (u16::from(part) * 5 + 127) / 255);
        Color::AnsiValue((16 + 36 * r + 6 * g + b) as u8)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = execute!(stdout(), ResetColor, LeaveAlternateScreen, cursor::Show);
        let _ = disable_raw_mode();
    }
}

fn meaning(key: KeyEvent) -> Option<Press> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    // Raw mode makes a key of what would have been a signal.
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return matches!(key.code, KeyCode::Char('c' | 'd' | '\\')).then_some(Press::Quit);
    }
    Some(match key.code {
        KeyCode::Char('w' | 'W') | KeyCode::Up => Press::Faster,
        KeyCode::Char('s' | 'S') | KeyCode::Down => Press::Slower,
        KeyCode::Char('a' | 'A') | KeyCode::Left => Press::Left,
        KeyCode::Char('d' | 'D') | KeyCode::Right => Press::Right,
        KeyCode::Char(',') => Press::SideLeft,
        KeyCode::Char('.') => Press::SideRight,
        KeyCode::Char(' ') => Press::Stop,
        KeyCode::Tab => Press::Next,
        KeyCode::Char(digit @ '1'..='9') => Press::Pick(digit as usize - '1' as usize),
        KeyCode::Char('p' | 'P') => Press::Pause,
        KeyCode::Char('r' | 'R') => Press::Reset,
        KeyCode::Char('+' | '=') => Press::Nearer,
        KeyCode::Char('-') => Press::Farther,
        KeyCode::Char('q' | 'Q') | KeyCode::Esc => Press::Quit,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_arrows_and_the_interrupt_key_have_a_meaning() {
        let plain = |code| meaning(KeyEvent::new(code, KeyModifiers::NONE));
        assert_eq!(plain(KeyCode::Char('w')), Some(Press::Faster));
        assert_eq!(plain(KeyCode::Down), Some(Press::Slower));
        assert_eq!(plain(KeyCode::Char('3')), Some(Press::Pick(2)));
        assert_eq!(plain(KeyCode::Tab), Some(Press::Next));
        assert_eq!(plain(KeyCode::Esc), Some(Press::Quit));
        assert_eq!(plain(KeyCode::Char('x')), None);
        let control = |c| meaning(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL));
        assert_eq!(control('c'), Some(Press::Quit));
        assert_eq!(control('w'), None);
    }
}
