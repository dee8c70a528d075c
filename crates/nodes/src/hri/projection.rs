//! One message of the bus becomes everything under `humans/`, in one pass and in the order that clients rely on.
//!
//! This module knows no node; what it writes into is re-used from message to message.

use arena_people_msgs::msg::rmw::{FaceView, Pedestrians};
use builtin_interfaces::msg::rmw::Time as WireTime;
use hri_msgs::msg::rmw::{EngagementLevel, IdsList};
use promenade_gait::rig::Frames;
use promenade_gait::{GaitPool, PoseProfile};
use promenade_human::MAP_FRAME;
use promenade_kernel::Time;
use rosidl_runtime_rs::String as WireString;

use super::body::Body;
use super::face;
use super::frames::{self, FrameWriter, Named};
use super::markers::{Drawn, MarkerWriter};
use super::model::Models;
use super::outlet::{BodyWants, Outlet};
use super::roster::{Namer, Roster};
use super::settings::Settings;
use super::social::{self, Due};
use crate::bus::{read_string, set_string, time_from_wire};

/// Holds a rate against message stamps.
#[derive(Debug)]
struct Pace {
    /// Nanoseconds, 0 = every message.
    period: i64,
    due: Option<i64>,
}

impl Pace {
    fn new(rate: f64) -> Self {
        let period = if rate.is_finite() && rate > 0.0 { (1e9 / rate) as i64 } else { 0 };
        Pace { period, due: None }
    }

    /// Whether a message of that stamp is due. The rate holds on average, not only as the next whole message.
    fn is_due(&mut self, stamp: Time) -> bool {
        let now = stamp.nanos();
        match self.due {
            Some(due) if now < due && due - now <= self.period => false,
            Some(due) if now >= due && now - due < self.period => {
                self.due = Some(due.saturating_add(self.period));
                true
            }
            // The first message, a gap, or a clock that went back.
            _ => {
                self.due = Some(now.saturating_add(self.period));
                true
            }
        }
    }
}

/// The projection of one environment.
#[derive(Debug)]
pub(crate) struct Projection {
    settings: Settings,
    roster: Roster<Body>,
    models: Models,
    gait: GaitPool,
    profile: PoseProfile,
    frames: FrameWriter,
    markers: MarkerWriter,
    lists: IdsList,
    level: EngagementLevel,
    view: FaceView,
    pace: Pace,
    frame_id: String,
    wire_frame_id: WireString,
    /// What each body's listeners want in this pass.
    wants: Vec<BodyWants>,
    /// What the layout of the frames was made for.
    watched: Vec<bool>,
    has_lists: bool,
    frames_stale: bool,
    markers_stale: bool,
    were_drawn: bool,
    links: Frames,
}

impl Projection {
    /// A projection for the node's namespace.
    pub(crate) fn new(namespace: &str, settings: Settings) -> Self {
        let namer = Namer::new(namespace, settings.id_style);
        Projection {
            roster: Roster::new(namer, settings.max_bodies),
            models: Models::default(),
            gait: GaitPool::default(),
            profile: PoseProfile::default(),
            frames: FrameWriter::default(),
            markers: MarkerWriter::new(settings.marker_style, settings.marker_labels),
            lists: IdsList::default(),
            level: EngagementLevel::default(),
            view: face::view(settings.view_fov, settings.view_clip_near),
            pace: Pace::new(settings.tf_rate),
            frame_id: MAP_FRAME.to_owned(),
            wire_frame_id: WireString::default(),
            wants: Vec::new(),
            watched: Vec::new(),
            has_lists: false,
            frames_stale: true,
            markers_stale: true,
            were_drawn: false,
            links: Frames::default(),
            settings,
        }
    }

    /// The bus is not read for a while.
    pub(crate) fn pause(&mut self) {
        for entry in self.roster.entries_mut() {
            entry.body.pause();
        }
    }

    /// Sends the lists again, for readers that are not transient local.
    pub(crate) fn repeat_lists(&self, out: &mut impl Outlet) {
        if self.has_lists {
            out.lists(&self.lists);
        }
    }

    /// Sends everything latched into an outlet that comes late.
    pub(crate) fn replay(&self, out: &mut impl Outlet) {
        for entry in self.roster.entries() {
            out.describe(entry.n, &entry.id, &entry.body.rig);
        }
        if self.has_lists {
            if self.settings.sends_frames {
                out.fixed_frames(&self.frames.fixed);
            }
            for entry in self.roster.entries() {
                out.introduce(entry.n, &entry.id);
            }
            out.lists(&self.lists);
        }
    }

    /// Projects one message.
    pub(crate) fn step(&mut self, message: &Pedestrians, out: &mut impl Outlet) {
        let wire_stamp = &message.header.stamp;
        let stamp = time_from_wire(wire_stamp);
        self.read_frame_id(&message.header.frame_id);

        let (models, rig) = (&mut self.models, &self.settings.rig);
        let changed = self.roster.reconcile(message, |id, pedestrian| {
            let root_drop = models.root_drop(&pedestrian.model_uri.to_string());
            Body::new(id, rig.clone(), root_drop)
        });
        for entry in self.roster.entries_mut() {
            let renamed = entry.body.read(&message.pedestrians[entry.at]);
            self.frames_stale |= renamed;
        }
        if changed || !self.has_lists {
            self.publish_roster(wire_stamp, out);
        }
        self.project(message, stamp, out);
    }

    fn read_frame_id(&mut self, frame_id: &WireString) {
        if self.wire_frame_id == *frame_id {
            return;
        }
        self.wire_frame_id = frame_id.clone();
        read_string(frame_id, &mut self.frame_id);
        if self.frame_id.is_empty() {
            self.frame_id.push_str(MAP_FRAME);
        }
        self.frames_stale = true;
        self.markers_stale = true;
    }

    /// Who came and who went, in the order of the specification's section 3.
    fn publish_roster(&mut self, stamp: &WireTime, out: &mut impl Outlet) {
        let entries = self.roster.entries();
        for entry in entries.iter().filter(|entry| entry.is_new) {
            out.describe(entry.n, &entry.id, &entry.body.rig);
        }
        if self.settings.sends_frames {
            self.frames
                .lay_out_fixed(stamp, entries.iter().map(|entry| (entry.id.as_str(), &entry.body.rig)));
            out.fixed_frames(&self.frames.fixed);
        }
        for entry in entries.iter().filter(|entry| entry.is_new) {
            out.introduce(entry.n, &entry.id);
        }
        let mut ids: Vec<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
        ids.sort_unstable();
        self.lists.header.stamp = stamp.clone();
        self.lists.ids = ids.into_iter().map(WireString::from).collect::<Vec<_>>().into();
        self.has_lists = true;
        out.lists(&self.lists);
        for entry in self.roster.gone() {
            self.markers.retire(&entry.id);
            out.retire(entry.n, &entry.id);
            self.gait.forget(entry.n);
        }
        self.frames_stale = true;
        self.markers_stale = true;
    }

    fn project(&mut self, message: &Pedestrians, stamp: Time, out: &mut impl Outlet) {
        let wire_stamp = &message.header.stamp;
        let wants = out.wants();
        let count = self.roster.entries().len();
        self.wants.clear();
        self.wants.extend(self.roster.entries().iter().map(|entry| out.body_wants(entry.n)));
        let any_view = self.wants.iter().any(|wants| wants.view);
        let sends_frames = self.settings.sends_frames && wants.frames && self.pace.is_due(stamp);
        let draws = self.markers.is_on() && wants.markers;
        if sends_frames || any_view {
            self.lay_out_frames();
        }
        if draws {
            self.lay_out_markers(wire_stamp);
        } else if std::mem::take(&mut self.were_drawn) {
            self.markers.restart();
            self.markers_stale = true;
        }

        for index in 0..count {
            let entry = &mut self.roster.entries_mut()[index];
            let (n, wants) = (entry.n, self.wants[index]);
            let body = &mut *entry.body;
            body.pose(&entry.id, &message.pedestrians[entry.at], stamp, &mut self.gait, &self.profile);
            if wants.joints {
                body.stamp(wire_stamp);
                out.joints(n, &body.joints);
            }
            if wants.confidence {
                out.confidence(n, 1.0);
            }
            let level = social::level(body.state);
            let due = social::due(body.engagement, level, stamp);
            if due == Due::Change || (due == Due::Repeat && wants.engagement) {
                body.engagement = Some((level, stamp));
                self.level.header.stamp = wire_stamp.clone();
                self.level.level = level;
                out.engagement(n, &self.level);
            }
            if !(sends_frames || draws || wants.view) {
                continue;
            }
            body.rig.forward(&body.root, &body.urdf, &mut self.links);
            if sends_frames || wants.view {
                let face = frames::face(&body.rig, &self.links);
                if sends_frames {
                    self.frames.write(index, wire_stamp, &body.root, &body.rig, &body.urdf, &face);
                }
                if wants.view {
                    self.frames.write_face(index, wire_stamp, &face);
                    self.view.info.header.stamp = wire_stamp.clone();
                    set_string(&mut self.view.info.header.frame_id, &body.gaze_frame);
                    out.view(n, &self.view);
                }
            }
            if draws {
                let label = if body.name.is_empty() { &entry.id } else { &body.name };
                let drawn = Drawn {
                    rig: &body.rig,
                    frames: &self.links,
                    root: &body.root,
                    state: body.state,
                    speed: body.speed,
                    label,
                };
                self.markers.write(index, wire_stamp, &drawn);
            }
        }
        if sends_frames {
            out.frames(&self.frames.moving);
        }
        if any_view && self.settings.sends_frames {
            out.faces(&self.frames.faces);
        }
        if draws {
            out.markers(&self.markers.message);
        }
    }

    fn lay_out_frames(&mut self) {
        let same = self.watched.len() == self.wants.len()
            && self.watched.iter().zip(&self.wants).all(|(watched, wants)| *watched == wants.view);
        if same && !std::mem::take(&mut self.frames_stale) {
            return;
        }
        self.frames_stale = false;
        self.watched.clear();
        self.watched.extend(self.wants.iter().map(|wants| wants.view));
        let bodies: Vec<Named<'_>> = self
            .roster
            .entries()
            .iter()
            .zip(&self.watched)
            .map(|(entry, face)| Named { id: &entry.id, name: &entry.body.name, face: *face })
            .collect();
        self.frames.lay_out(&self.frame_id, &bodies);
    }

    fn lay_out_markers(&mut self, stamp: &WireTime) {
        self.were_drawn = true;
        if !std::mem::take(&mut self.markers_stale) && !self.markers.has_leading() {
            return;
        }
        let bodies = self.roster.entries().iter().map(|entry| (entry.id.as_str(), &entry.body.rig));
        self.markers.lay_out(&self.frame_id, stamp, bodies);
    }
}

#[cfg(test)]
#[path = "projection_tests.rs"]
mod tests;
