//! Rust types of the ROS package `hri_msgs`, as far as the nodes use them.
//!
//! Written by hand under the paths that the message generator would use, because what the generator makes of
//! this package does not compile: it cannot convert the array of 70 points in `FacialLandmarks`. Types here
//! are the C layout of the middleware and must never differ from `msgs/hri_msgs` in a field's type or order.

/// Message types.
pub mod msg {
    /// Types in the memory layout of the middleware: published without conversion.
    pub mod rmw {
        use std::borrow::Cow;
        use std::ffi::c_void;

        use rosidl_runtime_rs::{Message, RmwMessage, Sequence, SequenceAlloc, String};
        use std_msgs::msg::rmw::Header;

        /// Defines a message struct and binds it to the functions that rosidl generated for it in C.
        macro_rules! message {
            (
                $(#[$about:meta])*
                $name:ident ($type_name:literal, $type_support:ident, $init:ident, $sequence_init:ident,
                    $sequence_fini:ident, $sequence_copy:ident) {
                    $( $(#[$field_about:meta])* $field:ident: $type:ty, )*
                }
            ) => {
                #[link(name = "hri_msgs__rosidl_typesupport_c")]
                unsafe extern "C" {
                    fn $type_support() -> *const c_void;
                }

                #[link(name = "hri_msgs__rosidl_generator_c")]
                unsafe extern "C" {
                    fn $init(message: *mut $name) -> bool;
                    fn $sequence_init(sequence: *mut Sequence<$name>, size: usize) -> bool;
                    fn $sequence_fini(sequence: *mut Sequence<$name>);
                    fn $sequence_copy(from: *const Sequence<$name>, to: *mut Sequence<$name>) -> bool;
                }

                $(#[$about])*
                #[repr(C)]
                #[derive(Debug, Clone, PartialEq)]
                pub struct $name {
                    $( $(#[$field_about])* pub $field: $type, )*
                }

                impl Default for $name {
                    fn default() -> Self {
                        let mut message = std::mem::MaybeUninit::<Self>::zeroed();
                        // SAFETY: the C function gets zeroed memory of the C struct's layout and makes it valid.
                        unsafe {
                            assert!($init(message.as_mut_ptr()), concat!("out of memory in ", $type_name));
                            message.assume_init()
                        }
                    }
                }

                impl SequenceAlloc for $name {
                    fn sequence_init(sequence: &mut Sequence<Self>, size: usize) -> bool {
                        // SAFETY: the pointer comes from a reference.
                        unsafe { $sequence_init(sequence, size) }
                    }
                    fn sequence_fini(sequence: &mut Sequence<Self>) {
                        // SAFETY: the pointer comes from a reference.
                        unsafe { $sequence_fini(sequence) }
                    }
                    fn sequence_copy(from: &Sequence<Self>, to: &mut Sequence<Self>) -> bool {
                        // SAFETY: both pointers come from references.
                        unsafe { $sequence_copy(from, to) }
                    }
                }

                impl Message for $name {
                    type RmwMsg = Self;
                    fn into_rmw_message(message: Cow<'_, Self>) -> Cow<'_, Self> {
                        message
                    }
                    fn from_rmw_message(message: Self) -> Self {
                        message
                    }
                }

                impl RmwMessage for $name {
                    const TYPE_NAME: &'static str = $type_name;
                    fn get_type_support() -> *const c_void {
                        // SAFETY: the function has no preconditions.
                        unsafe { $type_support() }
                    }
                }
            };
        }

        message! {
            /// Ids of all faces, bodies, voices or persons that exist now.
            IdsList (
                "hri_msgs/msg/IdsList",
                rosidl_typesupport_c__get_message_type_support_handle__hri_msgs__msg__IdsList,
                hri_msgs__msg__IdsList__init,
                hri_msgs__msg__IdsList__Sequence__init,
                hri_msgs__msg__IdsList__Sequence__fini,
                hri_msgs__msg__IdsList__Sequence__copy
            ) {
                /// Stamp.
                header: Header,
                /// The ids.
                ids: Sequence<String>,
            }
        }

        message! {
            /// A possible link between two ids.
            IdsMatch (
                "hri_msgs/msg/IdsMatch",
                rosidl_typesupport_c__get_message_type_support_handle__hri_msgs__msg__IdsMatch,
                hri_msgs__msg__IdsMatch__init,
                hri_msgs__msg__IdsMatch__Sequence__init,
                hri_msgs__msg__IdsMatch__Sequence__fini,
                hri_msgs__msg__IdsMatch__Sequence__copy
            ) {
                /// First id.
                id1: String,
                /// What the first id names.
                id1_type: i8,
                /// Second id; differs from the first.
                id2: String,
                /// What the second id names.
                id2_type: i8,
                /// 0..1; 0 cuts the link.
                confidence: f32,
            }
        }

        #[allow(missing_docs, reason = "the names of the specification")]
        impl IdsMatch {
            pub const UNSET: i8 = 0;
            pub const PERSON: i8 = 1;
            pub const FACE: i8 = 2;
            pub const BODY: i8 = 3;
            pub const VOICE: i8 = 4;
        }

        message! {
            /// How far a person is engaged with the robot.
            EngagementLevel (
                "hri_msgs/msg/EngagementLevel",
                rosidl_typesupport_c__get_message_type_support_handle__hri_msgs__msg__EngagementLevel,
                hri_msgs__msg__EngagementLevel__init,
                hri_msgs__msg__EngagementLevel__Sequence__init,
                hri_msgs__msg__EngagementLevel__Sequence__fini,
                hri_msgs__msg__EngagementLevel__Sequence__copy
            ) {
                /// Stamp.
                header: Header,
                /// One of the constants.
                level: u8,
            }
        }

        #[allow(missing_docs, reason = "the names of the specification")]
        impl EngagementLevel {
            pub const UNKNOWN: u8 = 0;
            pub const DISENGAGED: u8 = 1;
            pub const ENGAGING: u8 = 2;
            pub const ENGAGED: u8 = 3;
            pub const DISENGAGING: u8 = 4;
        }

        message! {
            /// Posture of a body.
            BodyPosture (
                "hri_msgs/msg/BodyPosture",
                rosidl_typesupport_c__get_message_type_support_handle__hri_msgs__msg__BodyPosture,
                hri_msgs__msg__BodyPosture__init,
                hri_msgs__msg__BodyPosture__Sequence__init,
                hri_msgs__msg__BodyPosture__Sequence__fini,
                hri_msgs__msg__BodyPosture__Sequence__copy
            ) {
                /// Stamp.
                header: Header,
                /// One of the constants.
                posture: u8,
            }
        }

        #[allow(missing_docs, reason = "the names of the specification")]
        impl BodyPosture {
            pub const OTHER: u8 = 0;
            pub const STANDING: u8 = 1;
            pub const SITTING: u8 = 2;
            pub const CROUCHING: u8 = 3;
            pub const LAYING: u8 = 4;
        }

        message! {
            /// Gesture of a body.
            Gesture (
                "hri_msgs/msg/Gesture",
                rosidl_typesupport_c__get_message_type_support_handle__hri_msgs__msg__Gesture,
                hri_msgs__msg__Gesture__init,
                hri_msgs__msg__Gesture__Sequence__init,
                hri_msgs__msg__Gesture__Sequence__fini,
                hri_msgs__msg__Gesture__Sequence__copy
            ) {
                /// Stamp.
                header: Header,
                /// One of the constants.
                gesture: u8,
            }
        }

        #[allow(missing_docs, reason = "the names of the specification")]
        impl Gesture {
            pub const OTHER: u8 = 0;
            pub const HANDS_ON_FACE: u8 = 1;
            pub const ARMS_CROSSED: u8 = 2;
            pub const LEFT_HAND_RAISED: u8 = 3;
            pub const RIGHT_HAND_RAISED: u8 = 4;
            pub const BOTH_HANDS_RAISED: u8 = 5;
            pub const WAVING: u8 = 6;
        }

        message! {
            /// People who belong together.
            Group (
                "hri_msgs/msg/Group",
                rosidl_typesupport_c__get_message_type_support_handle__hri_msgs__msg__Group,
                hri_msgs__msg__Group__init,
                hri_msgs__msg__Group__Sequence__init,
                hri_msgs__msg__Group__Sequence__fini,
                hri_msgs__msg__Group__Sequence__copy
            ) {
                /// Stamp.
                header: Header,
                /// Name of the group.
                group_id: String,
                /// Person ids.
                members: Sequence<String>,
            }
        }

        message! {
            /// Who looks at whom.
            Gaze (
                "hri_msgs/msg/Gaze",
                rosidl_typesupport_c__get_message_type_support_handle__hri_msgs__msg__Gaze,
                hri_msgs__msg__Gaze__init,
                hri_msgs__msg__Gaze__Sequence__init,
                hri_msgs__msg__Gaze__Sequence__fini,
                hri_msgs__msg__Gaze__Sequence__copy
            ) {
                /// Stamp.
                header: Header,
                /// Person id.
                sender: String,
                /// Person id; empty is the robot.
                receiver: String,
            }
        }
    }
}
