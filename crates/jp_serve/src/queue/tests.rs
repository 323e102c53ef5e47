//! Turns are fair, and no place is lost.

use futures::FutureExt;

use super::*;

const LIMITS: Limits = Limits {
    concurrency: 2,
    queue: 3,
    streams: 1,
    total: 3,
};

/// Enters without waiting.
fn try_enter(queue: &Arc<Queue>, name: &str, kind: Kind) -> Option<Result<Turn, Busy>> {
    queue.enter(name, kind, &LIMITS).now_or_never()
}

#[tokio::test]
async fn whoever_floods_waits_behind_their_own_calls_alone() {
    let queue: Arc<Queue> = Arc::default();
    let mut floods = Vec::new();
    for _ in 0..2 {
        floods.push(try_enter(&queue, "eve", Kind::Call).unwrap().unwrap());
    }
    let mut waiting: Vec<_> = (0..3)
        .map(|_| Box::pin(queue.enter("eve", Kind::Call, &LIMITS)))
        .collect();
    for one in &mut waiting {
        assert!(one.as_mut().now_or_never().is_none());
    }
    let refused = try_enter(&queue, "eve", Kind::Call).unwrap();
    assert!(matches!(refused, Err(Busy::Queue(3))));
    // The place that is left is for others, at once.
    let ada = try_enter(&queue, "ada", Kind::Call).unwrap().unwrap();
    // Now all places are taken. Whoever comes after three waiting calls of eve is next but one.
    let mut bob = Box::pin(queue.enter("bob", Kind::Call, &LIMITS));
    assert!(bob.as_mut().now_or_never().is_none());
    drop(floods.pop());
    let first = waiting.remove(0).now_or_never().unwrap().unwrap();
    assert!(bob.as_mut().now_or_never().is_none());
    drop(ada);
    let bob = bob.now_or_never().unwrap().unwrap();
    assert!(waiting[0].as_mut().now_or_never().is_none());
    drop((first, bob, floods));
    for one in waiting {
        one.now_or_never().unwrap().unwrap();
    }
    assert!(queue.state().lines.is_empty() && queue.state().running == 0);
}

#[tokio::test]
async fn whoever_goes_away_leaves_no_place_taken() {
    let queue: Arc<Queue> = Arc::default();
    let held: Vec<_> = (0..2)
        .map(|_| try_enter(&queue, "eve", Kind::Call).unwrap().unwrap())
        .collect();
    for _ in 0..100 {
        // Each waits, and is given up before its turn.
        assert!(try_enter(&queue, "eve", Kind::Call).is_none());
    }
    let mut last = Box::pin(queue.enter("eve", Kind::Call, &LIMITS));
    assert!(last.as_mut().now_or_never().is_none());
    // Its turn comes, and it is given up before it was polled again.
    drop(held);
    drop(last);
    assert!(queue.state().lines.is_empty() && queue.state().running == 0);
}

#[tokio::test]
async fn streams_and_small_requests_are_counted_for_themselves() {
    let queue: Arc<Queue> = Arc::default();
    let _calls: Vec<_> = (0..2)
        .map(|_| try_enter(&queue, "eve", Kind::Call).unwrap().unwrap())
        .collect();
    let stream = try_enter(&queue, "eve", Kind::Stream).unwrap().unwrap();
    let refused = try_enter(&queue, "eve", Kind::Stream).unwrap();
    assert!(matches!(refused, Err(Busy::Streams(1))));
    let small: Vec<_> = (0..MOST_SMALL)
        .map(|_| try_enter(&queue, "eve", Kind::Small).unwrap().unwrap())
        .collect();
    let refused = try_enter(&queue, "eve", Kind::Small).unwrap();
    assert!(matches!(refused, Err(Busy::Small)));
    drop((stream, small));
    assert!(try_enter(&queue, "eve", Kind::Stream).unwrap().is_ok());
}
