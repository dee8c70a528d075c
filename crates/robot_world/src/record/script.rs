//! How a world is run: how long, with which seed, which commands when, and what is recorded.

use serde_json::Value;

use crate::world::ObjectRef;

/// A script, as in the `custom` block of a world's file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// Steps to run; `None` = as long as somebody likes.
    pub steps: Option<u64>,
    /// Of the world's generator; `None` = any.
    pub seed: Option<u64>,
    /// Commands from outside.
    pub actions: Vec<Action>,
    /// Steps between recorded scans; `None` = no scans.
    pub lidar_every: Option<u64>,
    /// Names of the objects whose field of view is recorded with the scans.
    pub fov: Vec<String>,
    /// What the world shows, in a sentence.
    pub about: Option<String>,
}

/// A command for some steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// First step, counted from 0.
    pub from: u64,
    /// The step it no longer holds in.
    pub to: u64,
    /// Name of the object.
    pub object: String,
    /// In the layout of its model.
    pub command: Vec<f64>,
}

/// Which key of a script cannot be used, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("custom.{key}: {found}, expected {expected}")]
pub struct ScriptError {
    /// Path of the key.
    pub key: String,
    /// What was found.
    pub found: String,
    /// What would do.
    pub expected: &'static str,
}

impl Script {
    /// The script of a `custom` block. A block without a script is an empty one.
    ///
    /// # Errors
    /// When a key of a script has a value of another kind.
    pub fn of(custom: &Value) -> Result<Self, ScriptError> {
        let number = |key: &str| custom.get(key).map(|value| whole(key, value)).transpose();
        Ok(Self {
            steps: number("steps")?,
            seed: number("seed")?,
            actions: list("actions", custom.get("actions"), action)?,
            lidar_every: number("lidar_every")?.filter(|every| *every > 0),
            fov: list("fov", custom.get("fov"), |key, value| text(key, Some(value)))?,
            about: custom.get("about").and_then(Value::as_str).map(str::to_owned),
        })
    }

    /// The commands of a step, counted from 0. Of two for one object the later in the script counts.
    #[must_use]
    pub fn commands(&self, step: u64) -> Vec<(ObjectRef<'_>, &[f64])> {
        let mut commands: Vec<(ObjectRef<'_>, &[f64])> = Vec::new();
        for action in self.actions.iter().filter(|action| (action.from..action.to).contains(&step)) {
            let object = ObjectRef::Name(&action.object);
            commands.retain(|(known, _)| *known != object);
            commands.push((object, &action.command));
        }
        commands
    }
}

fn wrong(key: &str, found: Option<&Value>, expected: &'static str) -> ScriptError {
    let found = found.map_or_else(|| "missing".to_owned(), |value| format!("found {value}"));
    ScriptError { key: key.to_owned(), found, expected }
}

fn whole(key: &str, value: &Value) -> Result<u64, ScriptError> {
    value.as_u64().ok_or_else(|| wrong(key, Some(value), "a whole number, 0 or more"))
}

fn text(key: &str, value: Option<&Value>) -> Result<String, ScriptError> {
    value.and_then(Value::as_str).map(str::to_owned).ok_or_else(|| wrong(key, value, "the name of an object"))
}

fn list<T>(
    key: &str,
    value: Option<&Value>,
    read: impl Fn(&str, &Value) -> Result<T, ScriptError>,
) -> Result<Vec<T>, ScriptError> {
    let Some(value) = value else { return Ok(Vec::new()) };
    let items = value.as_array().ok_or_else(|| wrong(key, Some(value), "a list"))?;
    items.iter().enumerate().map(|(index, item)| read(&format!("{key}[{index}]"), item)).collect()
}

fn action(key: &str, value: &Value) -> Result<Action, ScriptError> {
    let inner = |name: &str| format!("{key}.{name}");
    let step = |name: &str| {
        let value = value.get(name);
        value
            .and_then(Value::as_u64)
            .ok_or_else(|| wrong(&inner(name), value, "a whole number of steps, 0 or more"))
    };
    let number = |key: &str, value: &Value| value.as_f64().ok_or_else(|| wrong(key, Some(value), "a number"));
    Ok(Action {
        from: step("from")?,
        to: step("to")?,
        object: text(&inner("object"), value.get("object"))?,
        command: list(&inner("action"), value.get("action"), number)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn commands_hold_from_one_step_until_before_another() {
        let custom = json!({"steps": 9, "seed": 4, "actions": [
            {"from": 1, "to": 3, "object": "a", "action": [1, 0.5]},
            {"from": 2, "to": 4, "object": "a", "action": [2, 0]},
            {"from": 0, "to": 2, "object": "b", "action": [3]},
        ]});
        let script = Script::of(&custom).expect("a script");
        let at = |step| {
            let commands = script.commands(step);
            commands.iter().map(|(object, command)| (*object, command.to_vec())).collect::<Vec<_>>()
        };
        let (a, b) = (ObjectRef::Name("a"), ObjectRef::Name("b"));
        assert_eq!(at(0), [(b, vec![3.0])]);
        assert_eq!(at(1), [(a, vec![1.0, 0.5]), (b, vec![3.0])]);
        assert_eq!(at(2), [(a, vec![2.0, 0.0])]);
        assert_eq!(at(4), []);
    }

    #[test]
    fn what_is_no_script_is_an_empty_one_and_what_is_wrong_in_one_is_named() {
        assert_eq!(Script::of(&Value::Null), Ok(Script::default()));
        assert_eq!(Script::of(&json!("my notes")), Ok(Script::default()));
        let broken = json!({"actions": [{"from": 0, "to": 1, "object": "a", "action": [true]}]});
        let error = Script::of(&broken).expect_err("a flag is no number");
        assert_eq!(error.to_string(), "custom.actions[0].action[0]: found true, expected a number");
        assert!(Script::of(&json!({"steps": -3})).is_err());
        assert!(Script::of(&json!({"actions": [{"from": 0}]})).is_err());
    }
}
