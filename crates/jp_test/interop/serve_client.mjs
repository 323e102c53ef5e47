// Talks to `jp serve` with the TypeScript SDK: over stdio and HTTP, in both forms of the protocol.
//
// Arguments: the jp binary, and a workspace that has the tool `test_tool` and a file `notes.txt`.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [jp, workspace] = process.argv.slice(2);
const token = 'interop-interop-interop-interop-1';

function check(what, truth, found) {
  if (!truth) {
    console.error(`${what}: ${JSON.stringify(found)}`);
    process.exit(1);
  }
  console.log(`  ${what}`);
}

async function talk(transport, options) {
  const client = new Client({ name: 'interop', version: '1' }, { capabilities: { elicitation: {} }, ...options });
  client.setRequestHandler('elicitation/create', async (request) => {
    const names = Object.keys(request.params.requestedSchema.properties);
    return { action: 'accept', content: Object.fromEntries(names.map((name) => [name, true])) };
  });
  await client.connect(transport);
  const names = (await client.listTools()).tools.map((tool) => tool.name);
  check('lists tools', names.includes('bash') && names.includes('test_tool'), names);
  const call = (name, args, more) => client.callTool({ name, arguments: args }, more);
  const sum = await call('bash', { commands: 'seq 3 | paste -sd+' });
  check('calls a tool', !sum.isError && sum.content[0].text.includes('1+2+3'), sum);
  const asked = await call('test_tool', { path: 'notes.txt', ask: true });
  check('answers a question', !asked.isError && asked.content[0].text.includes('second note'), asked);
  const large = await call('bash', { commands: 'seq 20000' });
  const link = large.content.find((part) => part.type === 'resource_link');
  const whole = await client.readResource({ uri: link.uri });
  check('reads a large result', whole.contents[0].text.includes('19999'), link);
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 300);
  const stopped = await call('bash', { commands: 'sleep 60' }, { signal: stop.signal }).catch((error) => error);
  check('cancels a call', stopped instanceof Error, stopped);
  const again = await call('bash', { commands: 'echo again' });
  check('goes on after that', !again.isError, again);
  await client.close();
}

function stdio() {
  return new StdioClientTransport({ command: jp, args: ['-C', workspace, 'serve'], env: process.env });
}

async function overHttp(options) {
  const env = { ...process.env, JP_TOKEN: token };
  const line = ['-C', workspace, 'serve', '--http', '127.0.0.1:0'];
  const server = spawn(jp, line, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  const url = new URL((await lines.next()).value);
  const headers = { Authorization: `Bearer ${token}` };
  await talk(new StreamableHTTPClientTransport(url, { requestInit: { headers } }), options);
  server.kill();
  const code = await new Promise((resolve) => server.on('exit', resolve));
  check('ends when it is told to', code === 0, code);
}

for (const [name, options] of [['handshake', {}], ['2026-07-28', { versionNegotiation: { mode: 'auto' } }]]) {
  console.log(`stdio, ${name}`);
  await talk(stdio(), options);
  console.log(`http, ${name}`);
  await overHttp(options);
}
process.exit(0);
