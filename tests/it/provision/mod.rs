//! The phone plane.
