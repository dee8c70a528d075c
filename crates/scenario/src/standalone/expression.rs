//! `${expr}` in inline agent types: names, numbers, `+ - * /`, signs and brackets over the type's `vars`.
//!
//! Expressions give a value and do nothing else. Whole numbers stay whole except in a division; text and truth values are used as they
//! are and cannot be reckoned with.

use crate::tree::Value;

/// Brackets and signs inside each other.
const MAX_DEPTH: usize = 32;

/// The value of an expression, or what is wrong with it. `of_name` gives the value of a variable.
pub(super) fn evaluate(text: &str, of_name: &dyn Fn(&str) -> Result<Value, String>) -> Result<Value, String> {
    let mut reader = Reader { rest: text, of_name, depth: 0 };
    let value = reader.sum()?;
    match reader.next() {
        None => Ok(value),
        Some(found) => Err(format!("expected an operator or the end, found `{found}`")),
    }
}

struct Reader<'a> {
    rest: &'a str,
    of_name: &'a dyn Fn(&str) -> Result<Value, String>,
    depth: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn take(&mut self, wanted: &[char]) -> Option<char> {
        let found = self.next().filter(|c| wanted.contains(c))?;
        self.rest = &self.rest[found.len_utf8()..];
        Some(found)
    }

    fn sum(&mut self) -> Result<Value, String> {
        let mut value = self.product()?;
        while let Some(operator) = self.take(&['+', '-']) {
            value = reckon(operator, &value, &self.product()?)?;
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<Value, String> {
        let mut value = self.signed()?;
        while let Some(operator) = self.take(&['*', '/']) {
            value = reckon(operator, &value, &self.signed()?)?;
        }
        Ok(value)
    }

    fn signed(&mut self) -> Result<Value, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} brackets and signs inside each other"));
        }
        let value = match self.take(&['+', '-']) {
            Some(sign) => reckon(sign, &Value::Int(0), &self.signed()?)?,
            None => self.atom()?,
        };
        self.depth -= 1;
        Ok(value)
    }

    fn atom(&mut self) -> Result<Value, String> {
        if self.take(&['(']).is_some() {
            let value = self.sum()?;
            return match self.take(&[')']) {
                Some(_) => Ok(value),
                None => Err("a `(` is never closed".to_owned()),
            };
        }
        match self.next() {
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => {
                let is_part = |c: char| c.is_alphanumeric() || c == '_';
                let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
                let (name, rest) = self.rest.split_at(end);
                self.rest = rest;
                (self.of_name)(name)
            }
            Some(found) => Err(format!("expected a number or the name of a variable, found `{found}`")),
            None => Err("expected a number or the name of a variable, found the end".to_owned()),
        }
    }

    fn number(&mut self) -> Result<Value, String> {
        let mut end = 0;
        for (at, c) in self.rest.char_indices() {
            let before = self.rest[..at].chars().next_back();
            let is_sign_of_exponent = matches!(c, '+' | '-') && matches!(before, Some('e' | 'E'));
            if !(c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E') || is_sign_of_exponent) {
                break;
            }
            end = at + c.len_utf8();
        }
        let (written, rest) = self.rest.split_at(end);
        self.rest = rest;
        match (written.parse::<i64>(), written.parse::<f64>()) {
            (Ok(whole), _) => Ok(Value::Int(whole)),
            (_, Ok(number)) => Ok(Value::Float(number)),
            _ => Err(format!("`{written}` is no number")),
        }
    }
}

fn reckon(operator: char, left: &Value, right: &Value) -> Result<Value, String> {
    if let (Value::Int(a), Value::Int(b)) = (left, right) {
        let whole = match operator {
            '+' => a.checked_add(*b),
            '-' => a.checked_sub(*b),
            '*' => a.checked_mul(*b),
            _ => None,
        };
        if let Some(whole) = whole {
            return Ok(Value::Int(whole));
        }
    }
    let [a, b] = [number(operator, left)?, number(operator, right)?];
    let value = match operator {
        '+' => a + b,
        '-' => a - b,
        '*' => a * b,
        _ if b == 0.0 => return Err("division by zero".to_owned()),
        _ => a / b,
    };
    if value.is_finite() { Ok(Value::Float(value)) } else { Err("the result is no finite number".to_owned()) }
}

fn number(operator: char, value: &Value) -> Result<f64, String> {
    match value {
        Value::Int(whole) => Ok(*whole as f64),
        Value::Float(number) => Ok(*number),
        Value::Text(text) => Err(format!("`{operator}` needs numbers, found the text {text:?}")),
        Value::Bool(truth) => Err(format!("`{operator}` needs numbers, found `{truth}`")),
        _ => Err(format!("`{operator}` needs numbers")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<Value, String> {
        evaluate(text, &|name| match name {
            "n" => Ok(Value::Int(3)),
            "word" => Ok(Value::Text("hall".to_owned())),
            _ => Err(format!("no variable is named {name:?}")),
        })
    }

    #[test]
    fn expressions_follow_the_rules_of_arithmetic() {
        assert_eq!(value("1 + 2 * n"), Ok(Value::Int(7)));
        assert_eq!(value("-(n - 5) / 4"), Ok(Value::Float(0.5)));
        assert_eq!(value("--2.5e-1"), Ok(Value::Float(0.25)));
        assert_eq!(value("6 / 3"), Ok(Value::Float(2.0)));
        assert_eq!(value("9223372036854775807 + 1"), Ok(Value::Float(9_223_372_036_854_775_808.0)));
        assert_eq!(value(" word "), Ok(Value::Text("hall".to_owned())));
    }

    #[test]
    fn what_cannot_be_reckoned_says_why() {
        assert_eq!(value("1 / (n - 3)"), Err("division by zero".to_owned()));
        assert_eq!(value("word + 1"), Err("`+` needs numbers, found the text \"hall\"".to_owned()));
        assert_eq!(value("m"), Err("no variable is named \"m\"".to_owned()));
        assert_eq!(value("(1"), Err("a `(` is never closed".to_owned()));
        assert_eq!(value("1.2.3"), Err("`1.2.3` is no number".to_owned()));
        assert_eq!(value("2 n"), Err("expected an operator or the end, found `n`".to_owned()));
        assert_eq!(value(""), Err("expected a number or the name of a variable, found the end".to_owned()));
        assert!(value(&"-".repeat(10_000)).is_err() && value(&"(".repeat(10_000)).is_err());
    }
}
