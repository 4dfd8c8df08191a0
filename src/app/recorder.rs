//! The record of what phones asked for and were handed, written off their path.
//!
//! Requests put records into a bounded buffer; one task writes them within a second, at a drain and at the
//! end. A full buffer drops records and counts them: phones go first.

use std::{sync::Mutex, time::Duration};

use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
};

use crate::store::{Record, Store};

/// Records that fit between two writes.
const BUFFER: usize = 65_536;
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
}

impl Recorder {
    /// Starts the writing task.
    pub(super) fn start(store: Store) -> Self {
        let (sender, receiver) = mpsc::channel(BUFFER);
        let writer = tokio::spawn(write(store, receiver));
        Self { sender: Mutex::new(Some(sender)), writer: Mutex::new(Some(writer)) }
    }

    /// Puts one record into the buffer. Never waits.
    pub fn put(&self, record: Record) {
        let sent = self.sender().is_some_and(|sender| sender.try_send(Message::Record(Box::new(record))).is_ok());
        if !sent {
            metrics::counter!("offbeat_records_dropped_total").increment(1);
        }
    }

    /// Returns once everything put before is written, or could not be.
    pub async fn drain(&self) {
        let Some(sender) = self.sender() else { return };
        let (done, written) = oneshot::channel();
        if sender.send(Message::Drain(done)).await.is_ok() {
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

async fn write(store: Store, mut receiver: mpsc::Receiver<Message>) {
    let mut messages = Vec::new();
    while receiver.recv_many(&mut messages, BATCH).await > 0 {
        let mut batch = Vec::new();
        let mut waiting = Vec::new();
        for message in messages.drain(..) {
            match message {
                Message::Record(record) => batch.push(*record),
                Message::Drain(done) => waiting.push(done),
            }
        }
        // One slow database must not turn into one transaction per request: records gather meanwhile.
        if let Err(error) = store.record(&batch).await {
            metrics::counter!("offbeat_records_dropped_total").increment(u64::try_from(batch.len()).unwrap_or(u64::MAX));
            tracing::warn!(records = batch.len(), error = &error as &dyn std::error::Error, "the record could not be written");
        }
        let drained = !waiting.is_empty();
        for done in waiting {
            let _ = done.send(());
        }
        if !drained && receiver.len() < BATCH {
            gather(&receiver).await;
        }
    }
}

/// Waits for more records, but not longer than a record may wait, nor when somebody drains or the end has come.
async fn gather(receiver: &mpsc::Receiver<Message>) {
    let started = tokio::time::Instant::now();
    while started.elapsed() < INTERVAL && receiver.len() < BATCH && !receiver.is_closed() && receiver.sender_strong_count() > 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
