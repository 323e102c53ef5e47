//! Between `wasmtime-wasi-http` and an [`Outgoing`]: bodies are collected, errors become codes.

use std::{
    sync::{Arc, LazyLock},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, StatusCode, header};
use http_body_util::{BodyExt, Full};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wasmtime_wasi_http::{
    DEFAULT_FORBIDDEN_HEADERS, Error, ForbiddenHeaderFilter, RequestOptions, WasiBody,
    WasiHttpHooks,
};

use super::{MAX_REQUEST_BODY, MAX_REQUESTS, Outgoing, OutgoingError, OutgoingRequest};

/// A guest that limits one part of the waiting for a response's head leaves this for the other.
const USUAL_PART: Duration = Duration::from_secs(60);

/// A frame of a body without bytes costs no memory; this many of them in one body are too many all
/// the same.
const MAX_EMPTY: usize = 10_000;

/// What comes after the response: nothing, since it is there whole.
type Rest = Box<dyn Future<Output = Result<(), Error>> + Send>;

type Answered = Result<(http::Response<WasiBody>, Rest), Error>;

/// Makes requests, or denies them.
#[derive(Default)]
pub(super) struct Hooks(Option<Sender>);

struct Sender {
    outgoing: Arc<dyn Outgoing>,
    places: Arc<Semaphore>,
    made: usize,
}

impl Hooks {
    pub(super) fn through(outgoing: Arc<dyn Outgoing>, places: Arc<Semaphore>) -> Self {
        Self(Some(Sender {
            outgoing,
            places,
            made: 0,
        }))
    }
}

impl Sender {
    /// Counts a request, and takes a place for it until its response is gone.
    fn place(&mut self) -> Result<OwnedSemaphorePermit, Error> {
        if self.made >= MAX_REQUESTS {
            return Err(Error::ConnectionLimitReached);
        }
        let place = Arc::clone(&self.places).try_acquire_owned();
        let place = place.map_err(|_| Error::ConnectionLimitReached)?;
        self.made += 1;
        Ok(place)
    }
}

impl WasiHttpHooks for Hooks {
    fn is_forbidden_header(&mut self, name: &HeaderName) -> bool {
        is_forbidden(name)
    }

    fn forbidden_header_filter(&mut self) -> ForbiddenHeaderFilter {
        static FILTER: LazyLock<ForbiddenHeaderFilter> = LazyLock::new(|| Arc::new(is_forbidden));
        Arc::clone(&FILTER)
    }

    /// The client writes it.
    fn set_host_header(&mut self) -> bool {
        false
    }

    /// Two of them are held for every body, sent or not.
    fn p2_outgoing_body_chunk_size(&mut self) -> usize {
        32 * 1024
    }

    fn send_request(
        &mut self,
        request: http::Request<WasiBody>,
        options: Option<RequestOptions>,
        _: Rest,
    ) -> Box<dyn Future<Output = Answered> + Send> {
        let Some(sender) = &mut self.0 else {
            return Box::new(async { Err(Error::HttpRequestDenied) });
        };
        let place = sender.place();
        let outgoing = Arc::clone(&sender.outgoing);
        Box::new(async move {
            let place = place?;
            let request = whole(request, options.unwrap_or_default()).await?;
            let response = outgoing.send(request).await.map_err(code)?;
            let mut answer = http::Response::new(held(response.body, place));
            *answer.status_mut() =
                StatusCode::from_u16(response.status).map_err(|_| Error::HttpProtocolError)?;
            for (name, value) in response.headers {
                let name = HeaderName::from_bytes(name.as_bytes());
                let value = HeaderValue::from_bytes(&value);
                if let (Ok(name), Ok(value)) = (name, value) {
                    answer.headers_mut().append(name, value);
                }
            }
            Ok((answer, Box::new(async { Ok(()) }) as Rest))
        })
    }
}

/// Says which headers belong to a connection, which is not the guest's.
fn is_forbidden(name: &HeaderName) -> bool {
    const MORE: [HeaderName; 3] = [header::TE, header::TRAILER, header::EXPECT];
    DEFAULT_FORBIDDEN_HEADERS.contains(name) || MORE.contains(name)
}

/// Collects a request with its body.
async fn whole(
    request: http::Request<WasiBody>,
    options: RequestOptions,
) -> Result<OutgoingRequest, Error> {
    let (head, body) = request.into_parts();
    let headers = head.headers.iter();
    let headers = headers.map(|(name, value)| (name.to_string(), value.as_bytes().to_vec()));
    Ok(OutgoingRequest {
        method: head.method.to_string(),
        url: head.uri.to_string(),
        headers: headers.collect(),
        body: collected(body).await?,
        head_timeout: head_timeout(&options),
        pause_timeout: options.between_bytes_timeout,
    })
}

fn head_timeout(options: &RequestOptions) -> Option<Duration> {
    let (connect, first) = (options.connect_timeout, options.first_byte_timeout);
    if connect.is_none() && first.is_none() {
        return None;
    }
    let part = |part: Option<Duration>| part.unwrap_or(USUAL_PART);
    Some(part(connect).saturating_add(part(first)))
}

async fn collected(mut body: WasiBody) -> Result<Vec<u8>, Error> {
    let (mut bytes, mut empty) = (Vec::new(), 0_usize);
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else {
            // Headers after the body would be headers that nobody checked.
            return Err(Error::HttpRequestTrailerSectionSize(Some(0)));
        };
        empty += usize::from(data.is_empty());
        if data.len() > MAX_REQUEST_BODY.saturating_sub(bytes.len()) || empty > MAX_EMPTY {
            return Err(Error::HttpRequestBodySize(Some(MAX_REQUEST_BODY as u64)));
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

/// Makes a body that holds its place until the guest is done with it.
fn held(bytes: Vec<u8>, place: OwnedSemaphorePermit) -> WasiBody {
    let held = Full::new(Bytes::from(bytes)).map_err(move |never| {
        let _ = &place;
        match never {}
    });
    held.boxed_unsync()
}

fn code(error: OutgoingError) -> Error {
    match error {
        OutgoingError::Denied => Error::HttpRequestDenied,
        OutgoingError::Prohibited => Error::DestinationIpProhibited,
        OutgoingError::Invalid => Error::HttpRequestUriInvalid,
        OutgoingError::Resolve => Error::DnsError {
            rcode: None,
            info_code: None,
        },
        OutgoingError::Connect => Error::ConnectionRefused,
        OutgoingError::Tls => Error::TlsProtocolError,
        OutgoingError::Timeout => Error::HttpResponseTimeout,
        OutgoingError::TooLarge { limit } => Error::HttpResponseBodySize(Some(limit)),
        OutgoingError::Broken => Error::HttpResponseIncomplete,
        OutgoingError::Host => Error::InternalError(None),
    }
}
