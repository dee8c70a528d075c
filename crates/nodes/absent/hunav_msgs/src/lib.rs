//! Stands in for the crate that is generated from the ROS package `hunav_msgs`, so that builds without it resolve. Nothing may use it.

compile_error!("the ROS package hunav_msgs is missing: source an environment that has it, or build with --no-default-features");
