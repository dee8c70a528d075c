//! Nothing to link: the tests are in `tests/`.
