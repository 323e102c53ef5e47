// Stands before `jp serve` for a suite that cannot send a token: adds the token to every request, and changes nothing else.
// Prints its port once every tool has said what it is.
import http from "node:http";

const [, , target, token] = process.argv;
const to = new URL(target);
const authorization = `Bearer ${token}`;

const proxy = http.createServer((request, response) => {
  const options = {
    host: to.hostname,
    port: to.port,
    method: request.method,
    path: request.url,
    headers: { ...request.headers, authorization },
    setHost: false,
  };
  const up = http.request(options, (back) => {
    response.writeHead(back.statusCode, back.rawHeaders);
    response.flushHeaders();
    back.pipe(response);
    response.on("close", () => back.destroy());
  });
  up.on("error", () => response.destroy());
  response.on("close", () => up.destroy());
  request.pipe(up);
});

async function areDescribed() {
  const version = "2026-07-28";
  const meta = { protocolVersion: version, clientCapabilities: {}, clientInfo: { name: "proxy", version: "1" } };
  const _meta = Object.fromEntries(Object.entries(meta).map(([key, value]) => [`io.modelcontextprotocol/${key}`, value]));
  const answer = await fetch(target, {
    method: "POST",
    headers: {
      authorization,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": version,
      "mcp-method": "tools/list",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta } }),
  });
  const text = await answer.text();
  const { result } = JSON.parse(text.startsWith("{") ? text : text.match(/^data: ?(\{.*)$/m)[1]);
  return result.tools.every((tool) => tool.description);
}

const late = Date.now() + 60_000;
while (!(await areDescribed())) {
  if (Date.now() > late) throw new Error("some tools did not say what they are");
  await new Promise((done) => setTimeout(done, 100));
}
proxy.listen(0, "127.0.0.1", () => console.log(proxy.address().port));
