//! The bounded queue between ROS callbacks and the thread of one world.
//!
//! Each kind of message has room of its own, so that a flood of one cannot keep another out: the clock goes on during a
//! long reset, and a reset gets in during a fast clock. What finds no room is dropped, and nobody ever waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use super::Ingress;

/// Room per kind. At 100 Hz of clock and 20 Hz of stream this is above half a second.
const ROOM: usize = 64;

/// Kinds of messages that have room of their own.
const KINDS: usize = 5;

impl Ingress {
    fn kind(&self) -> usize {
        match self {
            Ingress::Clock(_) => 0,
            Ingress::Stream(_) => 1,
            Ingress::Move(..) => 2,
            Ingress::Engine => 4,
            Ingress::Queue(..) | Ingress::Reset { .. } | Ingress::Stop => 3,
        }
    }
}

/// The end that callbacks hold; clones share the room.
#[derive(Clone)]
pub(crate) struct Teller {
    queue: Sender<Ingress>,
    waiting: Arc<[AtomicUsize; KINDS]>,
}

impl Teller {
    /// Puts a message into the queue, or drops it when there is no room or nobody listens any more.
    pub(crate) fn tell(&self, message: Ingress) {
        let waiting = &self.waiting[message.kind()];
        if waiting.fetch_add(1, Ordering::Relaxed) >= ROOM {
            waiting.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        // Nobody listens: the world has ended, and the node is about to.
        drop(self.queue.send(message));
    }

    /// Puts the order to stop into the queue, room or not.
    pub(crate) fn stop(&self) {
        self.waiting[Ingress::Stop.kind()].fetch_add(1, Ordering::Relaxed);
        drop(self.queue.send(Ingress::Stop));
    }
}

/// The end of the world.
pub(crate) struct Inbox {
    queue: Receiver<Ingress>,
    waiting: Arc<[AtomicUsize; KINDS]>,
}

impl Inbox {
    /// The next message; `None` when nobody can send any.
    pub(crate) fn next(&self) -> Option<Ingress> {
        self.queue.recv().ok().inspect(|message| self.on_taken(message))
    }

    /// The next message within `limit`.
    pub(crate) fn next_within(&self, limit: Duration) -> Result<Ingress, RecvTimeoutError> {
        self.queue.recv_timeout(limit).inspect(|message| self.on_taken(message))
    }

    fn on_taken(&self, message: &Ingress) {
        self.waiting[message.kind()].fetch_sub(1, Ordering::Relaxed);
    }
}

/// A queue.
pub(crate) fn inbox() -> (Teller, Inbox) {
    let (send, receive) = channel();
    let waiting: Arc<[AtomicUsize; KINDS]> = Arc::default();
    (Teller { queue: send, waiting: Arc::clone(&waiting) }, Inbox { queue: receive, waiting })
}

#[cfg(test)]
mod tests {
    use promenade_kernel::Time;

    use super::*;

    fn drain(inbox: &Inbox) -> (usize, usize) {
        let (mut clocks, mut streams) = (0, 0);
        while let Ok(message) = inbox.next_within(Duration::ZERO) {
            match message {
                Ingress::Clock(_) => clocks += 1,
                Ingress::Stream(_) => streams += 1,
                _ => {}
            }
        }
        (clocks, streams)
    }

    #[test]
    fn a_flood_of_one_kind_leaves_room_for_the_others_and_for_the_stop() {
        let (teller, inbox) = inbox();
        for i in 0..10_000 {
            teller.tell(Ingress::Clock(Time::from_nanos(i)));
        }
        teller.tell(Ingress::Stream(Box::default()));
        assert_eq!(drain(&inbox), (ROOM, 1));
        teller.tell(Ingress::Clock(Time::ZERO));
        assert_eq!(drain(&inbox), (1, 0), "room comes back with what is taken");
        for _ in 0..2 * ROOM {
            teller.stop();
        }
        assert!(matches!(inbox.next(), Some(Ingress::Stop)));
    }

    #[test]
    fn an_inbox_without_tellers_ends() {
        let (teller, inbox) = inbox();
        teller.tell(Ingress::Clock(Time::ZERO));
        drop(teller);
        assert!(matches!(inbox.next(), Some(Ingress::Clock(_))));
        assert!(inbox.next().is_none());
    }
}
