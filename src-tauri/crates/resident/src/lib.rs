//! What the app and the resident agent say to each other. The agent itself is the binary of this
//! crate: it is process 1 of a run's container, or stands outside of it where there is only
//! bubblewrap.

pub mod wire;
