//! The expressions of `$(eval ...)`: a small part of Python's, evaluated by hand.
//!
//! Understood: quoted strings, integers, floats, `True`, `False`, parentheses, `==`, `!=`, `not`, `and`, `or`, `+` (two strings
//! or two numbers) and `A if C else B`. Results are those of Python, including `str()` of the result. Never runs code: names,
//! calls, attributes and every other operator are refused.

use thiserror::Error;

/// Nesting of parentheses, `not` and conditionals that an expression may have.
const MAX_DEPTH: usize = 64;

/// Why an expression was refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("in expression `{expression}`, at character {position}: {message}")]
pub(crate) struct ExpressionError {
    expression: String,
    position: usize,
    message: String,
}

#[derive(Debug, Clone, PartialEq)]
enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
}

impl Value {
    fn is_true(&self) -> bool {
        match self {
            Self::Text(text) => !text.is_empty(),
            Self::Integer(number) => *number != 0,
            Self::Float(number) => *number != 0.0,
            Self::Boolean(value) => *value,
        }
    }

    /// Python's numeric view, in which `True` is 1.
    fn number(&self) -> Option<f64> {
        match self {
            Self::Text(_) => None,
            Self::Integer(number) => Some(*number as f64),
            Self::Float(number) => Some(*number),
            Self::Boolean(value) => Some(f64::from(u8::from(*value))),
        }
    }

    fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            Self::Boolean(value) => Some(i64::from(*value)),
            Self::Text(_) | Self::Float(_) => None,
        }
    }

    fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(left), Self::Text(right)) => left == right,
            _ => match (self.integer(), other.integer()) {
                (Some(left), Some(right)) => left == right,
                _ => matches!((self.number(), other.number()), (Some(left), Some(right)) if left == right),
            },
        }
    }

    fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Integer(number) => number.to_string(),
            Self::Float(number) => format!("{number:?}"),
            Self::Boolean(true) => "True".to_owned(),
            Self::Boolean(false) => "False".to_owned(),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Value(Value),
    Word(String),
    Symbol(&'static str),
}

/// Evaluates `expression` and returns Python's `str()` of the result.
pub(crate) fn evaluate(expression: &str) -> Result<String, ExpressionError> {
    let tokens = tokenize(expression)?;
    let mut parser = Parser { expression, tokens, next: 0 };
    let value = parser.conditional(0)?;
    if let Some((_, position)) = parser.tokens.get(parser.next) {
        return Err(parser.error(*position, "expected the end of the expression"));
    }
    Ok(value.into_text())
}

fn tokenize(expression: &str) -> Result<Vec<(Token, usize)>, ExpressionError> {
    let error = |position: usize, message: String| ExpressionError {
        expression: expression.to_owned(),
        position: position + 1,
        message,
    };
    let characters: Vec<char> = expression.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&character) = characters.get(at) {
        let start = at;
        match character {
            ' ' | '\t' | '\n' | '\r' => at += 1,
            '\'' | '"' => {
                let (text, end) = quoted(&characters, start)
                    .ok_or_else(|| error(start, "the string that starts here does not end".to_owned()))?;
                tokens.push((Token::Value(Value::Text(text)), start));
                at = end;
            }
            '(' | ')' | '+' => {
                let symbol = match character {
                    '(' => "(",
                    ')' => ")",
                    _ => "+",
                };
                tokens.push((Token::Symbol(symbol), start));
                at += 1;
            }
            '=' | '!' if characters.get(at + 1) == Some(&'=') => {
                tokens.push((Token::Symbol(if character == '=' { "==" } else { "!=" }), start));
                at += 2;
            }
            '0'..='9' | '.' | '-' => {
                at += 1;
                while characters.get(at).is_some_and(|c| {
                    c.is_ascii_alphanumeric()
                        || *c == '.'
                        || (*c == '-' && matches!(characters[at - 1], 'e' | 'E'))
                }) {
                    at += 1;
                }
                let text: String = characters[start..at].iter().collect();
                let value = text
                    .parse()
                    .map(Value::Integer)
                    .or_else(|_| text.parse().map(Value::Float))
                    .map_err(|_| error(start, format!("`{text}` is not a number")))?;
                tokens.push((Token::Value(value), start));
            }
            character if character.is_alphabetic() || character == '_' => {
                while characters.get(at).is_some_and(|c| c.is_alphanumeric() || *c == '_') {
                    at += 1;
                }
                let word: String = characters[start..at].iter().collect();
                tokens.push(match word.as_str() {
                    "True" => (Token::Value(Value::Boolean(true)), start),
                    "False" => (Token::Value(Value::Boolean(false)), start),
                    "and" | "or" | "not" | "if" | "else" => (Token::Word(word), start),
                    _ => {
                        return Err(error(
                            start,
                            format!("`{word}` is not understood; quote it if it is a string"),
                        ));
                    }
                });
            }
            other => return Err(error(start, format!("`{other}` is not understood"))),
        }
    }
    Ok(tokens)
}

/// The string literal that starts at `start`, and where the text after it begins.
fn quoted(characters: &[char], start: usize) -> Option<(String, usize)> {
    let quote = characters[start];
    let mut text = String::new();
    let mut at = start + 1;
    loop {
        match *characters.get(at)? {
            '\\' => {
                match *characters.get(at + 1)? {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    escaped @ ('\\' | '\'' | '"') => text.push(escaped),
                    other => text.extend(['\\', other]),
                }
                at += 2;
            }
            character if character == quote => return Some((text, at + 1)),
            character => {
                text.push(character);
                at += 1;
            }
        }
    }
}

struct Parser<'a> {
    expression: &'a str,
    tokens: Vec<(Token, usize)>,
    next: usize,
}

impl Parser<'_> {
    fn error(&self, position: usize, message: impl Into<String>) -> ExpressionError {
        ExpressionError {
            expression: self.expression.to_owned(),
            position: position + 1,
            message: message.into(),
        }
    }

    fn position(&self) -> usize {
        self.tokens.get(self.next).map_or_else(|| self.expression.chars().count(), |(_, position)| *position)
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let found = matches!(self.tokens.get(self.next), Some((Token::Word(found), _)) if found == word);
        self.next += usize::from(found);
        found
    }

    fn takes_symbol(&mut self, symbol: &str) -> bool {
        let found = matches!(self.tokens.get(self.next), Some((Token::Symbol(found), _)) if *found == symbol);
        self.next += usize::from(found);
        found
    }

    fn conditional(&mut self, depth: usize) -> Result<Value, ExpressionError> {
        if depth > MAX_DEPTH {
            return Err(self.error(self.position(), "the expression is nested too deeply"));
        }
        let value = self.either(depth)?;
        if !self.takes_word("if") {
            return Ok(value);
        }
        let condition = self.either(depth)?;
        if !self.takes_word("else") {
            return Err(self.error(self.position(), "expected `else`"));
        }
        let other = self.conditional(depth + 1)?;
        Ok(if condition.is_true() { value } else { other })
    }

    fn either(&mut self, depth: usize) -> Result<Value, ExpressionError> {
        let mut value = self.both(depth)?;
        while self.takes_word("or") {
            let right = self.both(depth)?;
            if !value.is_true() {
                value = right;
            }
        }
        Ok(value)
    }

    fn both(&mut self, depth: usize) -> Result<Value, ExpressionError> {
        let mut value = self.negation(depth)?;
        while self.takes_word("and") {
            let right = self.negation(depth)?;
            if value.is_true() {
                value = right;
            }
        }
        Ok(value)
    }

    fn negation(&mut self, depth: usize) -> Result<Value, ExpressionError> {
        let mut negated = None;
        while self.takes_word("not") {
            negated = Some(!negated.unwrap_or(false));
        }
        let value = self.comparison(depth)?;
        Ok(match negated {
            None => value,
            Some(negated) => Value::Boolean(value.is_true() != negated),
        })
    }

    fn comparison(&mut self, depth: usize) -> Result<Value, ExpressionError> {
        let left = self.sum(depth)?;
        let equal = match self.tokens.get(self.next) {
            Some((Token::Symbol("=="), _)) => true,
            Some((Token::Symbol("!="), _)) => false,
            _ => return Ok(left),
        };
        self.next += 1;
        let right = self.sum(depth)?;
        if matches!(self.tokens.get(self.next), Some((Token::Symbol("==" | "!="), _))) {
            return Err(self.error(self.position(), "chained comparisons are not understood; use `and`"));
        }
        Ok(Value::Boolean(left.equals(&right) == equal))
    }

    fn sum(&mut self, depth: usize) -> Result<Value, ExpressionError> {
        let mut value = self.atom(depth)?;
        while self.takes_symbol("+") {
            let position = self.position();
            let right = self.atom(depth)?;
            value = match (&value, &right) {
                (Value::Text(left), Value::Text(right)) => Value::Text(format!("{left}{right}")),
                (Value::Text(_), _) | (_, Value::Text(_)) => {
                    return Err(self.error(position, "`+` takes two strings or two numbers"));
                }
                _ => match (value.integer(), right.integer(), value.number(), right.number()) {
                    (Some(left), Some(right), ..) => Value::Integer(
                        left.checked_add(right)
                            .ok_or_else(|| self.error(position, "the sum is too large"))?,
                    ),
                    (.., left, right) => Value::Float(left.unwrap_or_default() + right.unwrap_or_default()),
                },
            };
        }
        Ok(value)
    }

    fn atom(&mut self, depth: usize) -> Result<Value, ExpressionError> {
        let position = self.position();
        if self.takes_symbol("(") {
            let value = self.conditional(depth + 1)?;
            if !self.takes_symbol(")") {
                return Err(self.error(self.position(), "expected `)`"));
            }
            return Ok(value);
        }
        match self.tokens.get(self.next) {
            Some((Token::Value(value), _)) => {
                let value = value.clone();
                self.next += 1;
                Ok(value)
            }
            _ => Err(self.error(position, "expected a quoted string, a number, True, False or `(`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn results_are_those_of_python() {
        for (expression, expected) in [
            ("'a' == 'a'", "True"),
            ("'a' != 'a'", "False"),
            ("'' or 'x'", "x"),
            ("'a' and ''", ""),
            ("not ''", "True"),
            ("not not 'x'", "True"),
            ("not 'a' == 'b'", "True"),
            ("'a' + \"b\" + 'c'", "abc"),
            ("1 + 2", "3"),
            ("1 + 2.5", "3.5"),
            ("1 + 1.0", "2.0"),
            ("True + 1", "2"),
            ("-1", "-1"),
            ("1 == 1.0", "True"),
            ("1 == '1'", "False"),
            ("'yes' if 1 else 'no'", "yes"),
            ("'a' if False else 'b' if False else 'c'", "c"),
            ("'x' + ('0' if 'a' == 'a' else '1')", "x0"),
            ("False and False or True", "True"),
            (r"'it\'s'", "it's"),
            (r"'a\d'", r"a\d"),
        ] {
            assert_eq!(evaluate(expression).as_deref(), Ok(expected), "{expression}");
        }
    }

    #[test]
    fn everything_else_is_refused_with_its_position() {
        for (expression, position, part) in [
            ("", 1, "expected a quoted string"),
            ("foo", 1, "`foo` is not understood"),
            ("__import__('os')", 1, "`__import__` is not understood"),
            ("'a'.upper()", 4, "`.upper` is not a number"),
            ("'a", 1, "does not end"),
            ("'a' 'b'", 5, "expected the end"),
            ("('a'", 5, "expected `)`"),
            ("'a' if 'b'", 11, "expected `else`"),
            ("'a' + 1", 7, "two strings or two numbers"),
            ("1 == 1 == 1", 8, "chained"),
            ("1 < 2", 3, "`<` is not understood"),
            ("9223372036854775807 + 1", 23, "too large"),
        ] {
            let error = evaluate(expression).expect_err(expression);
            assert_eq!(error.position, position, "{error}");
            assert!(error.to_string().contains(part), "{error}");
        }
        let deep = format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000));
        assert!(evaluate(&deep).expect_err("deep").message.contains("too deeply"));
    }

    proptest! {
        #[test]
        fn no_text_panics(expression in "\\PC{0,60}") {
            let _ = evaluate(&expression);
        }

        #[test]
        fn no_combination_of_tokens_panics(
            tokens in proptest::collection::vec(
                prop_oneof!["'a'", "1", "1.5", "True", "not", "and", "or", "if", "else", "==", "!=", "\\+", "\\(", "\\)"], 0..24)
        ) {
            let _ = evaluate(&tokens.join(" "));
        }
    }
}
