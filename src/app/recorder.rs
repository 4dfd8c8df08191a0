//! The record of what phones asked for and were handed, written off their path.
//!
//! Requests put records into a bounded buffer; one task writes them within a second, at a drain and at the
//! end. A full buffer drops records and counts them: phones go first.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{Notify, mpsc, oneshot},
    task::JoinHandle,
};

use crate::store::{Record, Store, StoreError};

/// Records that fit between two writes.
const BUFFER: usize = 65_536;
/// Bytes of files that fit: while the database takes no writes, phones go on fetching.
const BUFFER_BYTES: usize = 64 << 20;
/// At most this long until a record is written.
const INTERVAL: Duration = Duration::from_millis(500);
/// Records of one transaction.
const BATCH: usize = 500;

enum Message {
    Record(Box<Record>),
    /// Everything before this is written, then the sender is told.
    Drain(oneshot::Sender<()>),
}

/// The buffer before the record.
#[derive(Debug)]
pub struct Recorder {
    sender: Mutex<Option<mpsc::Sender<Message>>>,
    writer: Mutex<Option<JoinHandle<()>>>,
    hurry: Arc<Notify>,
    held: Arc<AtomicUsize>,
}

impl Recorder {
    /// Starts the writing task.
    pub(super) fn start(store: Store) -> Self {
        let (sender, receiver) = mpsc::channel(BUFFER);
        let hurry = Arc::new(Notify::new());
        let held = Arc::new(AtomicUsize::new(0));
        let writer = tokio::spawn(write(store, receiver, hurry.clone(), held.clone()));
        Self { sender: Mutex::new(Some(sender)), writer: Mutex::new(Some(writer)), hurry, held }
    }

    /// Puts one record into the buffer; beyond `BUFFER_BYTES` of files without the content. Never waits.
    pub fn put(&self, mut record: Record) {
        let mut weight = weight(&record);
        if self.held.fetch_add(weight, Ordering::Relaxed) + weight > BUFFER_BYTES
            && let Record::CheckIn(_, _, content @ Some(_)) = &mut record
        {
            *content = None;
            self.held.fetch_sub(weight, Ordering::Relaxed);
            weight = 0;
            metrics::counter!("offbeat_records_dropped_total").increment(1);
        }
        let sent = self.sender().is_some_and(|sender| sender.try_send(Message::Record(Box::new(record))).is_ok());
        if !sent {
            self.held.fetch_sub(weight, Ordering::Relaxed);
            metrics::counter!("offbeat_records_dropped_total").increment(1);
        }
    }

    /// Returns once everything put before is written, or could not be.
    pub async fn drain(&self) {
        let Some(sender) = self.sender() else { return };
        let (done, written) = oneshot::channel();
        if sender.send(Message::Drain(done)).await.is_ok() {
            self.hurry.notify_one();
            let _ = written.await;
        }
    }

    /// Writes the rest and ends the task.
    pub(super) async fn close(&self) {
        self.drain().await;
        drop(lock(&self.sender).take());
        let writer = lock(&self.writer).take();
        if let Some(writer) = writer
            && writer.await.is_err()
        {
            tracing::error!("the writer of the record ended early");
        }
    }

    fn sender(&self) -> Option<mpsc::Sender<Message>> {
        lock(&self.sender).clone()
    }
}

/// A poisoned lock holds a value as good as any: nothing is done under it but moves.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Bytes of the file that a record holds.
fn weight(record: &Record) -> usize {
    match record {
        Record::CheckIn(_, _, Some(content)) => content.bytes.len(),
        Record::CheckIn(..) | Record::Refusal(_) | Record::TokenUse(..) => 0,
    }
}

async fn write(store: Store, mut receiver: mpsc::Receiver<Message>, hurry: Arc<Notify>, held: Arc<AtomicUsize>) {
    let mut messages = Vec::new();
    let mut pending = Vec::new();
    while receiver.recv_many(&mut messages, BATCH).await > 0 {
        let mut waiting = Vec::new();
        for message in messages.drain(..) {
            match message {
                Message::Record(record) => pending.push(*record),
                Message::Drain(done) => waiting.push(done),
            }
        }
        let before: usize = pending.iter().map(weight).sum();
        flush(&store, &mut pending).await;
        held.fetch_sub(before - pending.iter().map(weight).sum::<usize>(), Ordering::Relaxed);
        let drained = !waiting.is_empty();
        for done in waiting {
            let _ = done.send(());
        }
        // One transaction per request would slow the administrators' writes: records gather meanwhile.
        if !drained && receiver.len() < BATCH {
            let _ = tokio::time::timeout(INTERVAL, hurry.notified()).await;
        }
    }
}

/// Writes what is pending. While the database is away it is kept, as far as there is room.
async fn flush(store: &Store, pending: &mut Vec<Record>) {
    let Err(error) = store.record(pending).await else { return pending.clear() };
    tracing::warn!(records = pending.len(), error = &error as &dyn std::error::Error, "the record could not be written");
    if !matches!(error, StoreError::Unavailable(_)) || pending.len() >= BUFFER {
        metrics::counter!("offbeat_records_dropped_total").increment(u64::try_from(pending.len()).unwrap_or(u64::MAX));
        pending.clear();
    }
}
