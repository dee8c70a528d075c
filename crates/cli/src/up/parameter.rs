//! Values of `<param>`: which ROS parameter type a text becomes, and how it is written after `-p name:=`.
//!
//! Without a `type` the text is typed by YAML 1.1, as launch does. Text is always written in double quotes, so that `0`, an empty
//! text or one with a colon stays the text it is.

use thiserror::Error;

/// The `type` attribute of `<param>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Integer,
    Float,
    Boolean,
}

impl Kind {
    /// Names of the kinds in a launch file.
    pub(crate) const NAMES: [&'static str; 4] = ["str", "int", "float", "bool"];

    /// Reads a `type` attribute.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "str" => Some(Self::Text),
            "int" => Some(Self::Integer),
            "float" => Some(Self::Float),
            "bool" => Some(Self::Boolean),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Text => "str",
            Self::Integer => "int",
            Self::Float => "float",
            Self::Boolean => "bool",
        }
    }
}

/// A typed parameter value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    List(Vec<Value>),
}

/// A text that is not a value of the wanted type.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum ParameterError {
    #[error("`{found}` is not a value of type `{expected}`")]
    NotOfType { found: String, expected: &'static str },
    #[error(
        "`{found}` has no ROS parameter type; expected text, a number, a boolean or a list of one of them; for text add type=\"str\""
    )]
    NoType { found: String },
}

impl Value {
    /// Types `text` as `kind`, or by YAML 1.1 without one.
    pub(crate) fn new(text: String, kind: Option<Kind>) -> Result<Self, ParameterError> {
        let trimmed = text.trim();
        let value = match kind {
            None => return untyped(&text).ok_or(ParameterError::NoType { found: text }),
            Some(Kind::Text) => return Ok(Self::Text(text)),
            Some(Kind::Integer) => trimmed.parse().ok().map(Self::Integer),
            Some(Kind::Float) => trimmed.parse().ok().map(Self::Float),
            Some(Kind::Boolean) => boolean(trimmed).map(Self::Boolean),
        };
        let expected = kind.map_or("", Kind::name);
        value.ok_or(ParameterError::NotOfType { found: text, expected })
    }

    /// The value as YAML on one line, typed the same by rcl's parameter parser.
    pub(crate) fn to_yaml(&self) -> String {
        match self {
            Self::Text(text) => quoted(text),
            Self::Integer(number) => number.to_string(),
            Self::Float(number) if number.is_nan() => ".nan".to_owned(),
            Self::Float(number) if number.is_infinite() => {
                if *number > 0.0 { ".inf" } else { "-.inf" }.to_owned()
            }
            Self::Float(number) => format!("{number:?}"),
            Self::Boolean(value) => value.to_string(),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(Self::to_yaml).collect();
                format!("[{}]", items.join(", "))
            }
        }
    }
}

/// A YAML double-quoted scalar; JSON strings are a subset of those.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn boolean(text: &str) -> Option<bool> {
    match text {
        "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Some(true),
        "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

fn integer(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = digits.replace('_', "");
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let (radix, digits) = match digits.strip_prefix("0x") {
        Some(hexadecimal) => (16, hexadecimal),
        None if digits.len() > 1 && digits.starts_with('0') => (8, &digits[1..]),
        None => (10, digits.as_str()),
    };
    // The sign goes with the digits, so that the smallest integer is one.
    i64::from_str_radix(&if negative { format!("-{digits}") } else { digits.to_owned() }, radix).ok()
}

/// YAML 1.1 wants a point in a float; `1e5` is a text there.
fn float(text: &str) -> Option<f64> {
    match text {
        ".nan" | ".NaN" | ".NAN" => return Some(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" => return Some(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Some(f64::NEG_INFINITY),
        _ => {}
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let numeric = digits.contains('.') && digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if numeric { text.replace('_', "").parse().ok() } else { None }
}

fn scalar(text: &str) -> Option<Value> {
    if let Some(value) = boolean(text) {
        Some(Value::Boolean(value))
    } else if let Some(number) = integer(text) {
        Some(Value::Integer(number))
    } else if let Some(number) = float(text) {
        Some(Value::Float(number))
    } else if matches!(text, "" | "~" | "null" | "Null" | "NULL")
        || text.starts_with(['{', '[', '&', '*', '|', '>', '%', '@', '`'])
    {
        None
    } else if text.starts_with(['\'', '"']) {
        serde_saphyr::from_str::<String>(text).ok().map(Value::Text)
    } else if text.contains(": ") || text.ends_with(':') || text.contains(" #") || text.starts_with("- ") {
        None
    } else {
        Some(Value::Text(text.to_owned()))
    }
}

fn untyped(text: &str) -> Option<Value> {
    let text = text.trim();
    let Some(items) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
        return scalar(text);
    };
    if items.trim().is_empty() {
        return Some(Value::List(Vec::new()));
    }
    let items = flow_items(items)?.into_iter().map(|item| scalar(item.trim())).collect::<Option<Vec<_>>>()?;
    let uniform =
        items.windows(2).all(|pair| std::mem::discriminant(&pair[0]) == std::mem::discriminant(&pair[1]));
    uniform.then_some(Value::List(items))
}

/// Splits the inside of a flow sequence at its commas, quotes respected.
fn flow_items(items: &str) -> Option<Vec<&str>> {
    let mut found = Vec::new();
    let (mut start, mut quote, mut escaped) = (0, None, false);
    for (at, character) in items.char_indices() {
        match (quote, character) {
            (Some('"'), _) if escaped => escaped = false,
            (Some('"'), '\\') => escaped = true,
            (Some(open), _) if character == open => quote = None,
            (None, '\'' | '"') => quote = Some(character),
            (None, ',') => {
                found.push(&items[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&items[start..]);
    quote.is_none().then_some(found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn yaml(text: &str, kind: Option<Kind>) -> Result<String, ParameterError> {
        Value::new(text.to_owned(), kind).map(|value| value.to_yaml())
    }

    #[test]
    fn untyped_values_follow_yaml() {
        for (text, expected) in [
            ("0", "0"),
            ("-12", "-12"),
            ("0x1f", "31"),
            ("010", "8"),
            ("1_000", "1000"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("1.0", "1.0"),
            ("-.5", "-0.5"),
            ("1.5e3", "1500.0"),
            (".inf", ".inf"),
            ("1e5", "\"1e5\""),
            ("true", "true"),
            ("off", "false"),
            ("clinic/corridor_crowd", "\"clinic/corridor_crowd\""),
            ("'0'", "\"0\""),
            ("\"a: b\"", "\"a: b\""),
            ("1.2.3", "\"1.2.3\""),
            ("[1, 2]", "[1, 2]"),
            ("['a, b', c]", "[\"a, b\", \"c\"]"),
            ("[]", "[]"),
        ] {
            assert_eq!(yaml(text, None).as_deref(), Ok(expected), "{text}");
        }
        for text in ["", "~", "a: b", "{a: b}", "[1, a]", "[[1]]", "[1", "['a]", "key:"] {
            let error = yaml(text, None).expect_err(text).to_string();
            assert!(error.contains("type=\"str\""), "{error}");
        }
    }

    #[test]
    fn typed_values_are_what_they_say() {
        assert_eq!(yaml("0", Some(Kind::Text)).as_deref(), Ok("\"0\""));
        assert_eq!(yaml("", Some(Kind::Text)).as_deref(), Ok("\"\""));
        assert_eq!(yaml("a\"b\\c\n", Some(Kind::Text)).as_deref(), Ok(r#""a\"b\\c\n""#));
        assert_eq!(yaml("1", Some(Kind::Float)).as_deref(), Ok("1.0"));
        assert_eq!(yaml("on", Some(Kind::Boolean)).as_deref(), Ok("true"));
        for (text, kind) in
            [("x", Kind::Integer), ("1.5", Kind::Integer), ("x", Kind::Float), ("1", Kind::Boolean)]
        {
            let error = yaml(text, Some(kind)).expect_err(text).to_string();
            assert!(error.contains(kind.name()), "{error}");
        }
        assert!(Kind::NAMES.iter().all(|name| Kind::from_name(name).map(Kind::name) == Some(name)));
    }

    proptest! {
        #[test]
        fn text_survives_yaml(text in "\\PC*") {
            let written = Value::Text(text.clone()).to_yaml();
            prop_assert_eq!(serde_saphyr::from_str::<String>(&written).expect("YAML"), text);
        }

        #[test]
        fn no_text_panics(text in "([-+0-9.e_xX\\[\\],'\"]|\\PC){0,12}") {
            let _ = yaml(&text, None);
        }
    }
}
