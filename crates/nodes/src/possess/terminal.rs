//! Keys in and a status line out. The terminal is always given back as it was.

use std::io::{IsTerminal, Write, stdin, stdout};

use anyhow::{Context, Result, ensure};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, read};
use crossterm::style::Print;
use crossterm::terminal::{Clear, ClearType, disable_raw_mode, enable_raw_mode, size};
use crossterm::{cursor::MoveToColumn, execute, queue};

use super::drive::Command;

/// A terminal in raw mode, until dropped.
pub(crate) struct Terminal {
    line: String,
}

impl Terminal {
    /// Takes the terminal over.
    pub(crate) fn open() -> Result<Self> {
        ensure!(
            stdin().is_terminal(),
            "mode keyboard needs a terminal: start possess by itself in one (a launch file or a pipe gives it none), or use \
             mode waypoints"
        );
        enable_raw_mode().context("cannot take the terminal over")?;
        Ok(Terminal { line: String::new() })
    }

    /// Calls `press` for each command, on a thread that ends with the process or when `press` answers false. A terminal that
    /// is gone counts as [`Command::Quit`].
    pub(crate) fn listen(press: impl Fn(Command) -> bool + Send + 'static) -> Result<()> {
        let listen = move || {
            loop {
                let command = match read() {
                    Ok(Event::Key(key)) => command(key),
                    Ok(_) => None,
                    Err(_) => Some(Command::Quit),
                };
                if command.is_some_and(|command| !press(command) || command == Command::Quit) {
                    return;
                }
            }
        };
        std::thread::Builder::new()
            .name("keys".to_owned())
            .spawn(listen)
            .context("cannot listen to the keys")?;
        Ok(())
    }

    /// Shows the status line, cut to the width of the terminal; a terminal that is gone shows nothing.
    pub(crate) fn show(&mut self, status: &str) {
        let width = size().map_or(80, |(columns, _)| usize::from(columns).max(2)) - 1;
        let line: String = status.chars().take(width).collect();
        if line == self.line {
            return;
        }
        let mut out = stdout();
        let _ = queue!(out, MoveToColumn(0), Clear(ClearType::CurrentLine), Print(&line));
        let _ = out.flush();
        self.line = line;
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = disable_raw_mode();
        let _ = execute!(stdout(), Print("\n"));
    }
}

fn command(key: KeyEvent) -> Option<Command> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    // Raw mode makes a key of what would have been a signal.
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return matches!(key.code, KeyCode::Char('c' | 'd' | '\\')).then_some(Command::Quit);
    }
    match key.code {
        KeyCode::Char('w' | 'W') | KeyCode::Up => Some(Command::Faster),
        KeyCode::Char('s' | 'S') | KeyCode::Down => Some(Command::Slower),
        KeyCode::Char('a' | 'A') | KeyCode::Left => Some(Command::Left),
        KeyCode::Char('d' | 'D') | KeyCode::Right => Some(Command::Right),
        KeyCode::Char(' ') => Some(Command::Stop),
        KeyCode::Char('q' | 'Q') | KeyCode::Esc => Some(Command::Quit),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_arrows_and_the_interrupt_key_are_commands() {
        let plain = |code| command(KeyEvent::new(code, KeyModifiers::NONE));
        assert_eq!(plain(KeyCode::Char('w')), Some(Command::Faster));
        assert_eq!(plain(KeyCode::Down), Some(Command::Slower));
        assert_eq!(plain(KeyCode::Char('A')), Some(Command::Left));
        assert_eq!(plain(KeyCode::Right), Some(Command::Right));
        assert_eq!(plain(KeyCode::Char(' ')), Some(Command::Stop));
        assert_eq!(plain(KeyCode::Esc), Some(Command::Quit));
        assert_eq!(plain(KeyCode::Char('x')), None);
        let control = |c| command(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL));
        assert_eq!(control('c'), Some(Command::Quit));
        assert_eq!(control('w'), None);
    }
}
