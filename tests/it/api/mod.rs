//! The admin plane; folders and files mirror the URLs.
