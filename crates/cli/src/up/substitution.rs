//! Substitutions of launch XML: `$(name arguments)` inside attribute values.
//!
//! [`Template::parse`] reads a value once, [`Template::perform`] fills it in against a [`Scope`]. Only the substitutions of
//! [`KNOWN`] exist; another is refused when the file is read, also where a condition would have skipped it.

use std::path::PathBuf;

use thiserror::Error;

use super::expression::{self, ExpressionError};
use super::nearest;
use super::packages::{MissingFromPackages, Packages};

/// Every substitution that is understood, as a user writes it.
pub(crate) const KNOWN: [&str; 10] =
    ["var", "env", "find-pkg-share", "find-pkg-prefix", "exec-in-pkg", "dirname", "eval", "not", "and", "or"];

/// Nesting of substitutions inside each other.
const MAX_DEPTH: usize = 32;

/// Why a value could not be read or filled in.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum SubstitutionError {
    #[error("substitution `$({found})` is not supported; supported: {}{}", KNOWN.join(", "), nearest::hint(found, KNOWN))]
    Unknown { found: String },
    #[error("`$({name})` takes {expected}, found {found}")]
    Arguments { name: &'static str, expected: &'static str, found: usize },
    #[error("`$(` without its `)` in `{text}`")]
    Unclosed { text: String },
    #[error("substitutions are nested too deeply in `{text}`")]
    TooDeep { text: String },
    #[error("`$(var {name})`: no argument or <let> of this name{}", nearest::hint(name, known.iter().map(String::as_str)))]
    NoSuchVariable { name: String, known: Vec<String> },
    #[error("`$(env {name})`: the environment variable is not set and no default is given")]
    NoSuchEnvironmentVariable { name: String },
    #[error("`{found}` is not a boolean; expected true, false, 1 or 0")]
    NotBoolean { found: String },
    #[error(transparent)]
    Expression(#[from] ExpressionError),
    #[error(transparent)]
    Package(#[from] MissingFromPackages),
}

/// What a substitution may look up.
pub(crate) trait Scope {
    /// Value of an argument or `<let>`.
    fn variable(&self, name: &str) -> Option<&str>;
    /// Names that [`Scope::variable`] knows, for error messages.
    fn variables(&self) -> Vec<String>;
    /// Environment variable as the processes will see it.
    fn environment(&self, name: &str) -> Option<String>;
    /// Installed packages.
    fn packages(&self) -> &Packages;
    /// Folder of the launch file that is being evaluated.
    fn launch_folder(&self) -> PathBuf;
}

/// One part of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Text(String),
    Substitution(Substitution),
}

/// A `$(name ...)` with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Substitution {
    name: &'static str,
    arguments: Vec<Template>,
}

/// A value with substitutions in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Template {
    pub(crate) parts: Vec<Part>,
}

impl Template {
    /// Reads `text`: plain characters, `$(...)`, and a backslash before a backslash, quote or dollar sign.
    pub(crate) fn parse(text: &str) -> Result<Self, SubstitutionError> {
        let characters: Vec<char> = text.chars().collect();
        let mut reader = Reader { text, characters: &characters, at: 0 };
        reader.template(Until::End, 0)
    }

    /// Fills in every substitution.
    pub(crate) fn perform(&self, scope: &dyn Scope) -> Result<String, SubstitutionError> {
        let mut result = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => result.push_str(text),
                Part::Substitution(substitution) => result.push_str(&substitution.perform(scope)?),
            }
        }
        Ok(result)
    }

    /// Fills in and reads as a boolean, by the rules of `if` and `unless`.
    pub(crate) fn perform_boolean(&self, scope: &dyn Scope) -> Result<bool, SubstitutionError> {
        boolean(self.perform(scope)?)
    }

    /// Fills in and splits like a command line: white space and quotes of the file's own text separate arguments, what a
    /// substitution gives does not.
    pub(crate) fn perform_words(&self, scope: &dyn Scope) -> Result<Vec<String>, SubstitutionError> {
        let mut words = Vec::new();
        let mut word: Option<String> = None;
        let mut quote = None;
        for part in &self.parts {
            match part {
                Part::Substitution(substitution) => {
                    word.get_or_insert_default().push_str(&substitution.perform(scope)?);
                }
                Part::Text(text) => {
                    for character in text.chars() {
                        match quote {
                            Some(open) if character == open => quote = None,
                            Some(_) => word.get_or_insert_default().push(character),
                            None if character.is_whitespace() => words.extend(word.take()),
                            None if matches!(character, '\'' | '"') => {
                                quote = Some(character);
                                word.get_or_insert_default();
                            }
                            None => word.get_or_insert_default().push(character),
                        }
                    }
                }
            }
        }
        words.extend(word);
        Ok(words)
    }
}

fn boolean(found: String) -> Result<bool, SubstitutionError> {
    match found.trim().to_ascii_lowercase().as_str() {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(SubstitutionError::NotBoolean { found }),
    }
}

impl Substitution {
    fn new(name: &str, arguments: Vec<Template>) -> Result<Self, SubstitutionError> {
        let name = KNOWN
            .into_iter()
            .find(|known| *known == name)
            .ok_or_else(|| SubstitutionError::Unknown { found: name.to_owned() })?;
        let (range, expected) = match name {
            "var" | "env" => (1..=2, "a name and an optional default"),
            "exec-in-pkg" => (2..=2, "an executable and a package"),
            "and" | "or" => (2..=2, "two booleans"),
            "dirname" => (0..=0, "nothing"),
            "eval" => (1..=1, "one expression in quotes"),
            _ => (1..=1, "one argument"),
        };
        if !range.contains(&arguments.len()) {
            return Err(SubstitutionError::Arguments { name, expected, found: arguments.len() });
        }
        Ok(Self { name, arguments })
    }

    fn perform(&self, scope: &dyn Scope) -> Result<String, SubstitutionError> {
        let arguments =
            self.arguments.iter().map(|argument| argument.perform(scope)).collect::<Result<Vec<_>, _>>()?;
        let literal = |value: bool| if value { "true" } else { "false" }.to_owned();
        // The number of arguments was checked when the file was read.
        let argument = |index: usize| arguments.get(index).cloned().unwrap_or_default();
        match self.name {
            "var" => match (scope.variable(&argument(0)), arguments.get(1)) {
                (Some(value), _) => Ok(value.to_owned()),
                (None, Some(default)) => Ok(default.clone()),
                (None, None) => {
                    Err(SubstitutionError::NoSuchVariable { name: argument(0), known: scope.variables() })
                }
            },
            "env" => match (scope.environment(&argument(0)), arguments.get(1)) {
                (Some(value), _) => Ok(value),
                (None, Some(default)) => Ok(default.clone()),
                (None, None) => Err(SubstitutionError::NoSuchEnvironmentVariable { name: argument(0) }),
            },
            "find-pkg-share" => Ok(scope.packages().share(&argument(0))?.display().to_string()),
            "find-pkg-prefix" => Ok(scope.packages().prefix(&argument(0))?.display().to_string()),
            "exec-in-pkg" => {
                Ok(scope.packages().executable(&argument(1), &argument(0))?.display().to_string())
            }
            "dirname" => Ok(scope.launch_folder().display().to_string()),
            "not" => Ok(literal(!boolean(argument(0))?)),
            "and" => Ok(literal(boolean(argument(0))? & boolean(argument(1))?)),
            "or" => Ok(literal(boolean(argument(0))? | boolean(argument(1))?)),
            _ => Ok(expression::evaluate(&argument(0))?),
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Until {
    End,
    Argument,
    Quote(char),
}

struct Reader<'a> {
    text: &'a str,
    characters: &'a [char],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.characters.get(self.at + ahead).copied()
    }

    fn unclosed(&self) -> SubstitutionError {
        SubstitutionError::Unclosed { text: self.text.to_owned() }
    }

    fn template(&mut self, until: Until, depth: usize) -> Result<Template, SubstitutionError> {
        if depth > MAX_DEPTH {
            return Err(SubstitutionError::TooDeep { text: self.text.to_owned() });
        }
        let mut parts = Vec::new();
        let mut text = String::new();
        loop {
            let Some(character) = self.peek(0) else {
                if until != Until::End {
                    return Err(self.unclosed());
                }
                break;
            };
            match (character, until) {
                ('\\', _) if matches!(self.peek(1), Some('\\' | '\'' | '"' | '$' | '(' | ')')) => {
                    text.extend(self.peek(1));
                    self.at += 2;
                }
                ('$', _) if self.peek(1) == Some('(') => {
                    if !text.is_empty() {
                        parts.push(Part::Text(std::mem::take(&mut text)));
                    }
                    self.at += 2;
                    parts.push(Part::Substitution(self.substitution(depth + 1)?));
                }
                (' ' | ')', Until::Argument) => break,
                (_, Until::Quote(quote)) if character == quote => break,
                _ => {
                    text.push(character);
                    self.at += 1;
                }
            }
        }
        if !text.is_empty() {
            parts.push(Part::Text(text));
        }
        Ok(Template { parts })
    }

    /// What follows `$(`, up to and with its `)`.
    fn substitution(&mut self, depth: usize) -> Result<Substitution, SubstitutionError> {
        let mut name = String::new();
        while let Some(character) = self.peek(0).filter(|c| !matches!(c, ' ' | ')')) {
            name.push(character);
            self.at += 1;
        }
        let mut arguments = Vec::new();
        loop {
            match self.peek(0) {
                None => return Err(self.unclosed()),
                Some(' ') => self.at += 1,
                Some(')') => {
                    self.at += 1;
                    return Substitution::new(&name, arguments);
                }
                Some(quote @ ('\'' | '"')) => {
                    self.at += 1;
                    arguments.push(self.template(Until::Quote(quote), depth)?);
                    self.at += 1;
                }
                Some(_) => arguments.push(self.template(Until::Argument, depth)?),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;

    struct Fixed {
        variables: BTreeMap<String, String>,
        packages: Packages,
    }

    impl Fixed {
        fn new(variables: &[(&str, &str)]) -> Self {
            Self {
                variables: variables
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                    .collect(),
                packages: Packages::new(Vec::new(), None),
            }
        }
    }

    impl Scope for Fixed {
        fn variable(&self, name: &str) -> Option<&str> {
            self.variables.get(name).map(String::as_str)
        }
        fn variables(&self) -> Vec<String> {
            self.variables.keys().cloned().collect()
        }
        fn environment(&self, name: &str) -> Option<String> {
            (name == "SET").then(|| "value".to_owned())
        }
        fn packages(&self) -> &Packages {
            &self.packages
        }
        fn launch_folder(&self) -> PathBuf {
            Path::new("/launch").to_owned()
        }
    }

    fn perform(text: &str) -> Result<String, SubstitutionError> {
        let scope =
            Fixed::new(&[("sim", "dummy"), ("task.scenario.file", "a b"), ("key", "sim"), ("empty", "")]);
        Template::parse(text)?.perform(&scope)
    }

    #[test]
    fn substitutions_are_filled_in() {
        for (text, expected) in [
            ("plain", "plain"),
            ("$(var sim)", "dummy"),
            ("x/$(var sim)/y", "x/dummy/y"),
            ("$(var task.scenario.file)", "a b"),
            ("$(var $(var key))", "dummy"),
            ("$(var other fallback)", "fallback"),
            ("$(var other '')", ""),
            ("$(env SET)", "value"),
            ("$(env UNSET 'a b')", "a b"),
            ("$(dirname)/x", "/launch/x"),
            ("$(not true)", "false"),
            ("$(and true $(not 0))", "true"),
            ("$(or 0 False)", "false"),
            ("$(eval \"'$(var sim)' == 'dummy'\")", "True"),
            (r"$(eval '\'$(var sim)\' == \'dummy\'')", "True"),
            ("$(eval \"'A' if '$(var empty)' == '' else ('b')\")", "A"),
            (r"costs \$(5)", "costs $(5)"),
            ("a $ b (c) 'd'", "a $ b (c) 'd'"),
        ] {
            assert_eq!(perform(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("$(vra sim)", "did you mean `var`?"),
            ("$(command 'rm -rf /')", "`$(command)` is not supported; supported: var, env"),
            ("$(var)", "takes a name and an optional default, found 0"),
            ("$(var simm)", "did you mean `sim`?"),
            ("$(env UNSET)", "not set"),
            ("$(var sim", "without its `)`"),
            ("$(eval 'a)", "without its `)`"),
            ("$(not maybe)", "`maybe` is not a boolean"),
            ("$(eval x)", "`x` is not understood"),
            ("$(find-pkg-share nothing)", "nothing"),
        ] {
            let error = perform(text).expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(matches!(perform(&"$(var ".repeat(10_000)), Err(SubstitutionError::TooDeep { .. })));
    }

    #[test]
    fn words_split_at_the_files_own_spaces_only() {
        let scope = Fixed::new(&[("path", "/with space/x"), ("empty", "")]);
        let words =
            |text: &str| Template::parse(text).expect("template").perform_words(&scope).expect("words");
        assert_eq!(
            words("--log-level $(var path) -d $(var path).rviz"),
            ["--log-level", "/with space/x", "-d", "/with space/x.rviz"]
        );
        assert_eq!(words("  a 'b c' \"\" $(var empty)"), ["a", "b c", "", ""]);
        assert!(words("  ").is_empty());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(\\$\\(|\\)|'|\"|\\\\|var|sim|eval| |\\PC){0,24}") {
            let _ = perform(&text);
        }
    }
}
