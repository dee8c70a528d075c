//! One library file as written: parsing with positions, and serialisation that reads back bit for bit
//! (human-layer specification, section 10.1).

use std::collections::BTreeMap;

use crate::{
    document::DocumentProblem,
    error::{ProfileError, ProfileErrors, ProfileProblem},
    joint::Joint,
    nearest::nearest,
    profile::{Binding, CadenceLaw, GainLaw, Harmonic, MAX_HARMONICS, PhaseWarp, Profile, Signal},
    yaml::{self, Key, Node, Position, Value},
};

const KEYS: &[&str] = &[
    "name",
    "same_as",
    "symmetric",
    "phase_warp",
    "cadence",
    "gain",
    "limits",
    "signals",
    "joints",
    "speeds",
];
pub(crate) const WARP_KEYS: &[&str] = &["split"];
pub(crate) const CADENCE_KEYS: &[&str] = &["base", "per_speed", "min", "max"];
pub(crate) const GAIN_KEYS: &[&str] = &["per_speed", "min", "max", "factor"];
const SIGNAL_KEYS: &[&str] = &["mean", "harmonics"];
/// Most speeds of a profile.
const MAX_SPEEDS: usize = 16;
const BINDING_KEYS: &[&str] = &["signal", "shift"];
const BINDING_FORM: &str = "{signal: <declared key>, shift: <radians>}";

/// The fields of a law that a file sets; the rest stay what they are.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LawFields {
    /// `phase_warp.split`.
    pub phase_warp: Option<PhaseWarp>,
    /// `cadence`: base, per_speed, min, max.
    pub cadence: [Option<f64>; 4],
    /// `gain`: per_speed, min, max, factor.
    pub gain: [Option<f64>; 4],
}

/// A profile file as written, before `same_as` is followed.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileFile {
    /// `name:`, the file stem if the file has none. Libraries are keyed by stem, not by this.
    pub name: String,
    /// Stem of the profile this one copies.
    pub same_as: Option<String>,
    /// `symmetric:`, default true; taken from the other profile with `same_as`.
    pub symmetric: bool,
    /// Law fields the file sets.
    pub laws: LawFields,
    /// Limits the file sets.
    pub limits: BTreeMap<Joint, [f64; 2]>,
    /// Signals in file order.
    pub signals: Vec<(String, Signal)>,
    /// Bindings in file order.
    pub bindings: Vec<Binding>,
    /// Speeds in m/s, ascending, and the stems of the profiles that walk there; an extension of ours.
    pub speeds: Vec<(f64, String)>,
    pub(crate) file: String,
    pub(crate) places: Places,
}

/// Where the parts stand that only the library can judge.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Places {
    pub(crate) same_as: Position,
    pub(crate) speeds: Position,
    pub(crate) cadence: Position,
    pub(crate) gain: Position,
}

impl ProfileFile {
    /// Reads a file's text. `stem` is the library key, `file` the name errors carry.
    ///
    /// # Errors
    /// Every problem of the file, each with line and column.
    pub fn parse(stem: &str, file: &str, text: &str) -> Result<Self, ProfileErrors> {
        let mut reader = Reader { file, problems: Vec::new() };
        let parsed = match yaml::parse(text) {
            Ok(node) => reader.profile(stem, &node),
            Err(error) => {
                reader.report(error.at, DocumentProblem::Syntax(error.message));
                None
            }
        };
        match parsed {
            Some(parsed) if reader.problems.is_empty() => Ok(parsed),
            _ => Err(ProfileErrors(reader.problems)),
        }
    }

    /// A self-contained file of a profile, as the fitter writes it.
    #[must_use]
    pub fn of(name: &str, profile: &Profile) -> Self {
        let CadenceLaw { base, per_speed, min, max } = profile.cadence;
        let GainLaw { per_speed: gain_per_speed, min: gain_min, max: gain_max, factor } = profile.gain;
        Self {
            name: name.to_owned(),
            same_as: None,
            symmetric: profile.symmetric,
            laws: LawFields {
                phase_warp: Some(profile.phase_warp),
                cadence: [base, per_speed, min, max].map(Some),
                gain: [gain_per_speed, gain_min, gain_max, factor].map(Some),
            },
            limits: profile.limits.clone(),
            signals: profile.signals.clone(),
            bindings: profile.bindings.clone(),
            speeds: Vec::new(),
            file: name.to_owned(),
            places: Places::default(),
        }
    }

    /// The profile this file gives on top of `base` (the other profile of `same_as`, or the defaults).
    ///
    /// # Errors
    /// Laws that do not hold once merged.
    pub(crate) fn resolve(&self, base: &Profile) -> Result<Profile, ProfileErrors> {
        let mut profile = base.clone();
        if self.same_as.is_none() && self.speeds.is_empty() {
            profile.symmetric = self.symmetric;
            profile.signals.clone_from(&self.signals);
            profile.bindings.clone_from(&self.bindings);
        }
        profile.change(&mut |profile| {
            self.laws.apply(profile);
            profile.limits.extend(self.limits.iter().map(|(joint, range)| (*joint, *range)));
        });
        let mut reader = Reader { file: &self.file, problems: Vec::new() };
        reader.check_cadence(self.places.cadence, &profile);
        reader.check_gain(self.places.gain, &profile);
        if reader.problems.is_empty() { Ok(profile) } else { Err(ProfileErrors(reader.problems)) }
    }

    /// The file's text: every number in the shortest form that reads back to the same double. A file written by this
    /// function serialises to the same bytes after parsing.
    #[must_use]
    pub fn to_yaml(&self) -> String {
        let mut text = format!("name: {}\n", scalar(&self.name));
        if !self.speeds.is_empty() {
            let speeds: Vec<String> = self
                .speeds
                .iter()
                .map(|(speed, stem)| format!("[{}, {}]", number(*speed), scalar(stem)))
                .collect();
            text.push_str(&format!("speeds: [{}]\n", speeds.join(", ")));
            return text;
        }
        if let Some(stem) = &self.same_as {
            text.push_str(&format!("same_as: {}\n", scalar(stem)));
            if let Some(warp) = self.laws.phase_warp {
                text.push_str(&inline_law("phase_warp", WARP_KEYS, &[Some(warp.split())]));
            }
            text.push_str(&inline_law("cadence", CADENCE_KEYS, &self.laws.cadence));
            text.push_str(&inline_law("gain", GAIN_KEYS, &self.laws.gain));
            self.write_limits(&mut text);
            return text;
        }
        let mut laws = Profile::default();
        self.laws.apply(&mut laws);
        let CadenceLaw { base, per_speed, min, max } = laws.cadence;
        text.push_str(&format!("symmetric: {}\n", self.symmetric));
        text.push_str(&inline_law("phase_warp", WARP_KEYS, &[Some(laws.phase_warp.split())]));
        text.push_str(&inline_law("cadence", CADENCE_KEYS, &[base, per_speed, min, max].map(Some)));
        let GainLaw { per_speed, min, max, factor } = laws.gain;
        text.push_str(&inline_law("gain", GAIN_KEYS, &[per_speed, min, max, factor].map(Some)));
        self.write_limits(&mut text);
        self.write_signals(&mut text);
        text
    }

    fn write_limits(&self, text: &mut String) {
        if self.limits.is_empty() {
            return;
        }
        text.push_str("limits:\n");
        for (joint, [lo, hi]) in &self.limits {
            text.push_str(&format!("  {joint}: [{}, {}]\n", number(*lo), number(*hi)));
        }
    }

    fn write_signals(&self, text: &mut String) {
        text.push_str(if self.signals.is_empty() { "signals: {}\n" } else { "signals:\n" });
        for (key, signal) in &self.signals {
            let key = scalar(key);
            let mean = number(signal.mean);
            if signal.harmonics.is_empty() {
                text.push_str(&format!("  {key}: {{mean: {mean}}}\n"));
                continue;
            }
            let harmonics: Vec<String> = signal
                .harmonics
                .iter()
                .map(|harmonic| format!("[{}, {}]", number(harmonic.amplitude), number(harmonic.phase)))
                .collect();
            text.push_str(&format!(
                "  {key}:\n    mean: {mean}\n    harmonics: [{}]\n",
                harmonics.join(", ")
            ));
        }
        text.push_str(if self.bindings.is_empty() { "joints: {}\n" } else { "joints:\n" });
        for Binding { joint, signal, shift } in &self.bindings {
            let key = scalar(&self.signals[*signal].0);
            text.push_str(&format!("  {joint}: {{signal: {key}, shift: {}}}\n", number(*shift)));
        }
    }
}

impl LawFields {
    /// Sets the fields that are present.
    pub fn apply(&self, profile: &mut Profile) {
        if let Some(warp) = self.phase_warp {
            profile.phase_warp = warp;
        }
        let CadenceLaw { base, per_speed, min, max } = &mut profile.cadence;
        set([base, per_speed, min, max], self.cadence);
        let GainLaw { per_speed, min, max, factor } = &mut profile.gain;
        set([per_speed, min, max, factor], self.gain);
    }
}

fn set(fields: [&mut f64; 4], values: [Option<f64>; 4]) {
    for (field, value) in fields.into_iter().zip(values) {
        if let Some(value) = value {
            *field = value;
        }
    }
}

/// `key: {a: 1.0, b: 2.0}` with the fields that are present, nothing if there are none.
fn inline_law(key: &str, names: &[&str], values: &[Option<f64>]) -> String {
    let fields: Vec<String> = names
        .iter()
        .zip(values)
        .filter_map(|(name, value)| value.map(|value| format!("{name}: {}", number(value))))
        .collect();
    if fields.is_empty() { String::new() } else { format!("{key}: {{{}}}\n", fields.join(", ")) }
}

/// Shortest text that reads back to the same double, as a float in YAML 1.1 and 1.2 alike: exponents get a point and
/// a sign, without which YAML 1.1 readers see a string.
fn number(value: f64) -> String {
    let text = format!("{value:?}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with('-') { "" } else { "+" };
    format!("{mantissa}{point}e{sign}{exponent}")
}

/// A word as YAML: plain where no reader could take it for anything else, quoted otherwise.
fn scalar(word: &str) -> String {
    const RESERVED: [&str; 9] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    let plain = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
        && !RESERVED.contains(&word.to_ascii_lowercase().as_str());
    if plain {
        return word.to_owned();
    }
    let mut text = String::from("\"");
    for c in word.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            ' '..='~' => text.push(c),
            _ if c.is_alphanumeric() => text.push(c),
            // YAML forbids some of these raw; escaped, all of them read back.
            _ => text.push_str(&format!("\\U{:08X}", u32::from(c))),
        }
    }
    text.push('"');
    text
}

/// Reads nodes and collects every problem on the way.
pub(crate) struct Reader<'a> {
    pub(crate) file: &'a str,
    pub(crate) problems: Vec<ProfileError>,
}

impl Reader<'_> {
    pub(crate) fn report(&mut self, at: Position, problem: impl Into<ProfileProblem>) {
        self.problems.push(ProfileError::new(self.file, at, problem));
    }

    pub(crate) fn wrong_type<T>(&mut self, place: &str, expected: &'static str, node: &Node) -> Option<T> {
        let found = node.value.describe();
        let (place, expected) = (place.to_owned(), expected.to_owned());
        self.report(node.at, DocumentProblem::Unexpected { place, expected, found });
        None
    }

    pub(crate) fn map<'n>(&mut self, place: &str, node: &'n Node) -> Option<&'n [(Key, Node)]> {
        match &node.value {
            Value::Map(entries) => Some(entries),
            _ => self.wrong_type(place, "a mapping", node),
        }
    }

    pub(crate) fn text(&mut self, place: &str, node: &Node) -> Option<String> {
        match &node.value {
            Value::Text(text) => Some(text.clone()),
            _ => self.wrong_type(place, "a text", node),
        }
    }

    pub(crate) fn number(&mut self, place: &str, node: &Node) -> Option<f64> {
        match node.value {
            Value::Number(value) if value.is_finite() => Some(value),
            Value::Number(found) => {
                let place = place.to_owned();
                self.report(
                    node.at,
                    ProfileProblem::OutOfRange { place, expected: "a finite number", found },
                );
                None
            }
            _ => self.wrong_type(place, "a number", node),
        }
    }

    fn pair(&mut self, place: &str, expected: &'static str, node: &Node) -> Option<[f64; 2]> {
        match &node.value {
            Value::List(items) if items.len() == 2 => {
                let first = self.number(place, &items[0]);
                let second = self.number(place, &items[1]);
                Some([first?, second?])
            }
            _ => self.wrong_type(place, expected, node),
        }
    }

    pub(crate) fn range(&mut self, at: Position, place: &str, lo: f64, hi: f64) {
        if lo > hi {
            self.report(at, ProfileProblem::EmptyRange { place: place.to_owned(), lo, hi });
        }
    }

    /// What only a merged cadence law can have wrong.
    pub(crate) fn check_cadence(&mut self, at: Position, profile: &Profile) {
        let CadenceLaw { min, max, .. } = profile.cadence;
        self.range(at, "cadence", min, max);
    }

    /// What only a merged gain law can have wrong.
    pub(crate) fn check_gain(&mut self, at: Position, profile: &Profile) {
        let GainLaw { min, max, per_speed, .. } = profile.gain;
        self.range(at, "gain", min, max);
        if per_speed <= 0.0 {
            let place = "gain.per_speed".to_owned();
            let problem =
                ProfileProblem::OutOfRange { place, expected: "a number above 0", found: per_speed };
            self.report(at, problem);
        }
    }

    pub(crate) fn unknown_key(&mut self, place: &str, key: &Key, accepted: &'static [&'static str]) {
        self.report(
            key.at,
            DocumentProblem::UnknownKey {
                place: place.to_owned(),
                found: key.text.clone(),
                accepted,
                nearest: nearest(&key.text, accepted).map(str::to_owned),
            },
        );
    }

    fn joint(&mut self, place: &'static str, key: &Key) -> Option<Joint> {
        let joint = Joint::parse(&key.text);
        if joint.is_none() {
            let nearest = Joint::nearest_name(&key.text).map(str::to_owned);
            let (place, found) = (place.to_owned(), key.text.clone());
            self.report(key.at, DocumentProblem::UnknownJoint { place, found, nearest });
        }
        joint
    }

    fn profile(&mut self, stem: &str, node: &Node) -> Option<ProfileFile> {
        let entries = self.map("profile", node)?;
        let mut parsed = ProfileFile {
            name: stem.to_owned(),
            same_as: None,
            symmetric: true,
            laws: LawFields::default(),
            limits: BTreeMap::new(),
            signals: Vec::new(),
            bindings: Vec::new(),
            speeds: Vec::new(),
            file: self.file.to_owned(),
            places: Places { same_as: node.at, speeds: node.at, cadence: node.at, gain: node.at },
        };
        let mut joints = None;
        for (key, value) in entries {
            match key.text.as_str() {
                "name" => {
                    if let Some(name) = self.text("name", value) {
                        parsed.name = name;
                    }
                }
                "same_as" => {
                    parsed.places.same_as = value.at;
                    parsed.same_as = self.text("same_as", value);
                }
                "symmetric" => match value.value {
                    Value::Bool(symmetric) => parsed.symmetric = symmetric,
                    _ => {
                        self.wrong_type::<()>("symmetric", "true or false", value);
                    }
                },
                "phase_warp" => parsed.laws.phase_warp = self.phase_warp(value),
                "cadence" => {
                    parsed.places.cadence = value.at;
                    parsed.laws.cadence = self.law("cadence", CADENCE_KEYS, value);
                }
                "gain" => {
                    parsed.places.gain = value.at;
                    parsed.laws.gain = self.law("gain", GAIN_KEYS, value);
                }
                "limits" => parsed.limits = self.limits(value),
                "signals" => parsed.signals = self.signals(value),
                "joints" => joints = Some(value),
                "speeds" => {
                    parsed.places.speeds = value.at;
                    parsed.speeds = self.speeds(value);
                }
                _ => self.unknown_key("profile", key, KEYS),
            }
        }
        if let Some(joints) = joints {
            parsed.bindings = self.bindings(&parsed.signals, joints);
        }
        if !parsed.speeds.is_empty() {
            for (key, _) in entries.iter().filter(|(key, _)| !matches!(key.text.as_str(), "name" | "speeds"))
            {
                self.report(key.at, ProfileProblem::NextToSpeeds { key: key.text.clone() });
            }
        }
        if parsed.same_as.is_some() {
            for (key, _) in entries {
                if matches!(key.text.as_str(), "symmetric" | "signals" | "joints") {
                    self.report(key.at, ProfileProblem::NextToSameAs { key: key.text.clone() });
                }
            }
        }
        Some(parsed)
    }

    /// `[[speed, stem], ...]` with ascending speeds above 0.
    fn speeds(&mut self, node: &Node) -> Vec<(f64, String)> {
        const EXPECTED: &str = "a list of [speed in m/s, profile] with ascending speeds above 0";
        let mut speeds: Vec<(f64, String)> = Vec::new();
        let Value::List(items) = &node.value else {
            self.wrong_type::<()>("speeds", EXPECTED, node);
            return speeds;
        };
        if items.is_empty() || items.len() > MAX_SPEEDS {
            self.wrong_type::<()>("speeds", EXPECTED, node);
        }
        for item in items.iter().take(MAX_SPEEDS) {
            let Value::List(pair) = &item.value else {
                self.wrong_type::<()>("speeds", EXPECTED, item);
                continue;
            };
            let [speed, stem] = pair.as_slice() else {
                self.wrong_type::<()>("speeds", EXPECTED, item);
                continue;
            };
            let found = self.number("speeds", speed);
            let stem = self.text("speeds", stem);
            let (Some(found), Some(stem)) = (found, stem) else { continue };
            if found <= speeds.last().map_or(0.0, |(slower, _)| *slower) {
                let place = "speeds".to_owned();
                self.report(speed.at, ProfileProblem::OutOfRange { place, expected: EXPECTED, found });
            }
            speeds.push((found, stem));
        }
        speeds
    }

    pub(crate) fn phase_warp(&mut self, node: &Node) -> Option<PhaseWarp> {
        let mut warp = None;
        for (key, value) in self.map("phase_warp", node)? {
            if key.text != "split" {
                self.unknown_key("phase_warp", key, WARP_KEYS);
                continue;
            }
            let Some(found) = self.number("phase_warp.split", value) else { continue };
            warp = PhaseWarp::new(found);
            if warp.is_none() {
                let place = "phase_warp.split".to_owned();
                let expected = "a number between 0 and 1, both excluded";
                self.report(value.at, ProfileProblem::OutOfRange { place, expected, found });
            }
        }
        warp
    }

    pub(crate) fn law(
        &mut self,
        place: &str,
        names: &'static [&'static str],
        node: &Node,
    ) -> [Option<f64>; 4] {
        let mut fields = [None; 4];
        for (key, value) in self.map(place, node).unwrap_or_default() {
            match names.iter().position(|name| *name == key.text) {
                Some(index) => fields[index] = self.number(&format!("{place}.{}", key.text), value),
                None => self.unknown_key(place, key, names),
            }
        }
        fields
    }

    pub(crate) fn limits(&mut self, node: &Node) -> BTreeMap<Joint, [f64; 2]> {
        let mut limits = BTreeMap::new();
        for (key, value) in self.map("limits", node).unwrap_or_default() {
            let place = format!("limits.{}", key.text);
            let joint = self.joint("limits", key);
            let Some([lo, hi]) = self.pair(&place, "two numbers [lo, hi]", value) else { continue };
            self.range(value.at, &place, lo, hi);
            if let Some(joint) = joint {
                limits.insert(joint, [lo, hi]);
            }
        }
        limits
    }

    fn signals(&mut self, node: &Node) -> Vec<(String, Signal)> {
        let entries = self.map("signals", node).unwrap_or_default();
        entries
            .iter()
            .map(|(key, value)| (key.text.clone(), self.signal(&format!("signals.{}", key.text), value)))
            .collect()
    }

    pub(crate) fn signal(&mut self, place: &str, node: &Node) -> Signal {
        let mut signal = Signal::default();
        let entries = match &node.value {
            Value::Number(_) => {
                signal.mean = self.number(place, node).unwrap_or_default();
                return signal;
            }
            Value::Map(entries) => entries,
            _ => {
                self.wrong_type::<()>(place, "a number or {mean, harmonics}", node);
                return signal;
            }
        };
        for (key, value) in entries {
            match key.text.as_str() {
                "mean" => signal.mean = self.number(&format!("{place}.mean"), value).unwrap_or_default(),
                "harmonics" => signal.harmonics = self.harmonics(&format!("{place}.harmonics"), value),
                _ => self.unknown_key(place, key, SIGNAL_KEYS),
            }
        }
        signal
    }

    fn harmonics(&mut self, place: &str, node: &Node) -> Vec<Harmonic> {
        let Value::List(items) = &node.value else {
            self.wrong_type::<()>(place, "a list of [amplitude, phase]", node);
            return Vec::new();
        };
        if items.len() > MAX_HARMONICS {
            let (place, found) = (place.to_owned(), items.len());
            self.report(node.at, ProfileProblem::TooManyHarmonics { place, found, max: MAX_HARMONICS });
            return Vec::new();
        }
        items
            .iter()
            .filter_map(|item| self.pair(place, "two numbers [amplitude, phase]", item))
            .map(|[amplitude, phase]| Harmonic { amplitude, phase })
            .collect()
    }

    fn bindings(&mut self, signals: &[(String, Signal)], node: &Node) -> Vec<Binding> {
        let mut bindings = Vec::new();
        for (key, value) in self.map("joints", node).unwrap_or_default() {
            let joint = self.joint("joints", key);
            let binding = self.binding(&key.text, signals, value);
            if let (Some(joint), Some((signal, shift))) = (joint, binding) {
                bindings.push(Binding { joint, signal, shift });
            }
        }
        bindings
    }

    fn binding(&mut self, joint: &str, signals: &[(String, Signal)], node: &Node) -> Option<(usize, f64)> {
        let place = format!("joints.{joint}");
        let entries = self.map(&place, node)?;
        let (mut signal, mut shift) = (None, None);
        for (key, value) in entries {
            match key.text.as_str() {
                "signal" => {
                    let Some(found) = self.text(&format!("{place}.signal"), value) else { continue };
                    signal = signals.iter().position(|(declared, _)| *declared == found);
                    if signal.is_none() {
                        let declared: Vec<&str> = signals.iter().map(|(key, _)| key.as_str()).collect();
                        let nearest = nearest(&found, &declared).map(str::to_owned);
                        let place = place.clone();
                        self.report(value.at, ProfileProblem::UnknownSignal { place, found, nearest });
                    }
                }
                "shift" => shift = self.number(&format!("{place}.shift"), value),
                _ => self.unknown_key(&place, key, BINDING_KEYS),
            }
        }
        for &required in BINDING_KEYS {
            if !entries.iter().any(|(key, _)| key.text == required) {
                let place = place.clone();
                let problem = DocumentProblem::MissingKey { place, key: required, form: BINDING_FORM };
                self.report(node.at, problem);
            }
        }
        Some((signal?, shift?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_floats_for_every_reader() {
        for (value, text) in
            [(1.0, "1.0"), (0.1, "0.1"), (-0.0, "-0.0"), (1e-7, "1.0e-7"), (1.5e300, "1.5e+300")]
        {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn odd_words_are_quoted() {
        for (word, text) in
            [("hip", "hip"), ("yes", "\"yes\""), ("1", "\"1\""), ("a: b", "\"a: b\""), ("", "\"\"")]
        {
            assert_eq!(scalar(word), text);
        }
    }
}
