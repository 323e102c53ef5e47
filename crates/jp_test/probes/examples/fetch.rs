//! Makes HTTP requests with `wasi:http`: `{"url": …, "method": …, "headers": {…}, "body": …}`; `fill` is
//! the size of a body, `times` makes the request so often at once, `leave` does not wait for it.

#[cfg(target_arch = "wasm32")]
mod fetch {
    use jp_probes::Call;
    use jp_tool::Outcome;
    use serde_json::{Value, json};
    use wasip2::{
        http::{
            outgoing_handler::handle,
            types::{
                ErrorCode, Fields, FutureIncomingResponse, Method, OutgoingBody, OutgoingRequest,
                Scheme,
            },
        },
        io::streams::StreamError,
    };

    pub(super) fn run(call: &Call) -> Outcome {
        let times = call.number("times").max(1);
        let mut pending = Vec::new();
        for _ in 0..times {
            match start(call) {
                Ok(started) => pending.push(started),
                Err(error) => return Outcome::failed(error),
            }
        }
        if call.get("leave") == true {
            return "left".into();
        }
        let mut answers = Vec::new();
        // Dropped at the end only: what is held counts.
        let mut held = Vec::new();
        for response in &pending {
            match wait(response) {
                Ok((answer, response)) => {
                    answers.push(answer);
                    held.push(response);
                }
                Err(error) => return Outcome::failed(error),
            }
        }
        match answers.as_slice() {
            [one] => one.to_string().into(),
            many => json!(many).to_string().into(),
        }
    }

    fn start(call: &Call) -> Result<FutureIncomingResponse, String> {
        let headers = Fields::new();
        if let Value::Object(named) = call.get("headers") {
            for (name, value) in named {
                let value = value.as_str().unwrap_or_default().as_bytes();
                headers
                    .append(&name, value)
                    .map_err(|error| format!("header {name}: {error:?}"))?;
            }
        }
        let request = OutgoingRequest::new(headers);
        let url = call.text("url");
        let (scheme, rest) = url.split_once("://").unwrap_or(("https", &url));
        let at = rest.find('/').unwrap_or(rest.len());
        let (authority, path) = rest.split_at(at);
        let scheme = match scheme {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            other => Scheme::Other(other.to_owned()),
        };
        let method = match call.text("method").as_str() {
            "" | "GET" => Method::Get,
            "POST" => Method::Post,
            other => Method::Other(other.to_owned()),
        };
        let set = request
            .set_scheme(Some(&scheme))
            .and_then(|()| request.set_method(&method))
            .and_then(|()| request.set_authority(Some(authority)))
            .and_then(|()| request.set_path_with_query(Some(path)));
        set.map_err(|()| "the request cannot be described".to_owned())?;
        let content = match call.number("fill") {
            0 => call.text("body").into_bytes(),
            size => vec![b'x'; size],
        };
        if content.is_empty() {
            return handle(request, None).map_err(|error| name(&error));
        }
        let body = request.body().map_err(|()| "no body".to_owned())?;
        let response = handle(request, None).map_err(|error| name(&error))?;
        match write(body, &content) {
            // Why nobody reads on, the response says.
            Err(StreamError::Closed) | Ok(()) => Ok(response),
            Err(StreamError::LastOperationFailed(error)) => Err(error.to_debug_string()),
        }
    }

    fn write(body: OutgoingBody, content: &[u8]) -> Result<(), StreamError> {
        let stream = body.write().map_err(|()| StreamError::Closed)?;
        for piece in content.chunks(4096) {
            stream.blocking_write_and_flush(piece)?;
        }
        drop(stream);
        OutgoingBody::finish(body, None).map_err(|_| StreamError::Closed)
    }

    type Held = wasip2::http::types::IncomingBody;

    fn wait(response: &FutureIncomingResponse) -> Result<(Value, Held), String> {
        response.subscribe().block();
        let response = response.get().ok_or("no response")?;
        let response = response.map_err(|()| "taken twice")?;
        let response = response.map_err(|error| name(&error))?;
        let headers: Vec<_> = response
            .headers()
            .entries()
            .into_iter()
            .map(|(name, value)| json!([name, String::from_utf8_lossy(&value)]))
            .collect();
        let status = response.status();
        let body = response.consume().map_err(|()| "no body")?;
        let stream = body.stream().map_err(|()| "no stream")?;
        let mut bytes = Vec::new();
        loop {
            match stream.blocking_read(64 * 1024) {
                Ok(piece) => bytes.extend(piece),
                Err(StreamError::Closed) => break,
                Err(StreamError::LastOperationFailed(error)) => {
                    return Err(error.to_debug_string());
                }
            }
        }
        drop(stream);
        let answer = json!({
            "status": status,
            "headers": headers,
            "body": String::from_utf8_lossy(&bytes),
        });
        Ok((answer, body))
    }

    fn name(error: &ErrorCode) -> String {
        format!("{error:?}")
    }
}

#[cfg(target_arch = "wasm32")]
jp_probes::probe!(fetch::run);
