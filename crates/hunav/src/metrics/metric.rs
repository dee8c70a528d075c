//! The metrics by their public names.

macro_rules! metrics {
    ($($variant:ident $name:literal $unit:literal $per_step:literal $doc:literal,)*) => {
        /// A metric. The order is that of the columns of result files.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Metric {
            $(#[doc = $doc] $variant,)*
        }

        impl Metric {
            /// All of them.
            pub const ALL: [Metric; Metric::COUNT] = [$(Metric::$variant,)*];
            /// How many there are.
            pub const COUNT: usize = [$($name,)*].len();

            /// Its public name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Metric::$variant => $name,)* }
            }

            /// Its unit; empty for what has none.
            #[must_use]
            pub fn unit(self) -> &'static str {
                match self { $(Metric::$variant => $unit,)* }
            }

            /// Whether it also has one number per step.
            #[must_use]
            pub fn is_per_step(self) -> bool {
                match self { $(Metric::$variant => $per_step,)* }
            }

            /// What it is, in a sentence.
            #[must_use]
            pub fn about(self) -> &'static str {
                match self { $(Metric::$variant => $doc,)* }
            }
        }
    };
}

metrics! {
    TimeToReachGoal "time_to_reach_goal" "s" false "Time from the first to the last step.",
    PathLength "path_length" "m" false "Length of the robot's way.",
    CumulativeHeadingChanges "cumulative_heading_changes" "rad" true "Sum of the changes of the robot's heading.",
    AvgDistanceToClosestPerson "avg_distance_to_closest_person" "m" true "Mean distance to the nearest person, edge to edge.",
    MinimumDistanceToPeople "minimum_distance_to_people" "m" false "Least distance to anybody, edge to edge.",
    MaximumDistanceToPeople "maximum_distance_to_people" "m" false "Largest distance from the robot's edge to anybody's centre.",
    IntimateSpaceIntrusions "intimate_space_intrusions" "%" true "Share of steps nearer than 0.45 m to somebody.",
    PersonalSpaceIntrusions "personal_space_intrusions" "%" true "Share of steps from 0.45 m to 1.2 m.",
    SocialSpaceIntrusions "social_space_intrusions" "%" true "Share of steps from 1.2 m to 3.6 m.",
    GroupIntimateSpaceIntrusions "group_intimate_space_intrusions" "%" true "Share of steps nearer than 0.45 m to the centre of a group.",
    GroupPersonalSpaceIntrusions "group_personal_space_intrusions" "%" true "Share of steps from 0.45 m to 1.2 m of the nearest group.",
    GroupSocialSpaceIntrusions "group_social_space_intrusions" "%" true "Share of steps from 1.2 m to 3.6 m of the nearest group.",
    Completed "completed" "" false "Whether the robot ended at a goal.",
    MinimumDistanceToTarget "minimum_distance_to_target" "m" false "Least distance to a goal.",
    FinalDistanceToTarget "final_distance_to_target" "m" false "Distance to the nearest goal at the end.",
    RobotOnPersonCollision "robot_on_person_collision" "" true "How often the robot ran into somebody: steps times people.",
    PersonOnRobotCollision "person_on_robot_collision" "" true "How often somebody ran into the robot: steps times people.",
    TimeNotMoving "time_not_moving" "s" true "Time for which the robot stood still.",
    AvgRobotLinearSpeed "avg_robot_linear_speed" "m/s" true "Mean speed of the robot.",
    AvgRobotAngularSpeed "avg_robot_angular_speed" "rad/s" true "Mean of the robot's turn rate without its sign.",
    AvgAcceleration "avg_acceleration" "m/s2" true "Mean of the robot's acceleration without its sign.",
    AvgOveracceleration "avg_overacceleration" "m/s3" true "Mean change of speed per squared time step.",
    AvgPedestrianVelocity "avg_pedestrian_velocity" "m/s" true "Mean speed of all people.",
    AvgClosestPedestrianVelocity "avg_closest_pedestrian_velocity" "m/s" true "Mean speed of whoever is nearest to the robot.",
    SocialForceOnAgents "social_force_on_agents" "" true "Sum of the social forces of the robot on people.",
    SocialForceOnRobot "social_force_on_robot" "" true "Sum of the social forces of people on the robot.",
    SocialWork "social_work" "" true "Social and obstacle force on the robot, with what it does to people.",
    ObstacleForceOnRobot "obstacle_force_on_robot" "" true "Sum of the force of obstacles on the robot.",
    ObstacleForceOnAgents "obstacle_force_on_agents" "" true "Sum of the mean force of obstacles on people.",
}

impl Metric {
    /// The metric of a public name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Metric> {
        Metric::ALL.into_iter().find(|metric| metric.name() == name)
    }
}
