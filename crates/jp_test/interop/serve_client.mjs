// Talks to `jp serve` with the TypeScript SDK: over stdio and HTTP, in both forms of the protocol.
//
// Arguments: the jp binary, and a workspace that has the tools `test_tool` and `test_tool_with_progress`, a `bash` whose
// calls become tasks, and a file `notes.txt`.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [jp, workspace] = process.argv.slice(2);
const modern = { versionNegotiation: { mode: 'auto' } };
const token = 'interop-interop-interop-interop-1';

function check(what, truth, found) {
  if (!truth) {
    console.error(`${what}: ${JSON.stringify(found)}`);
    process.exit(1);
  }
  console.log(`  ${what}`);
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

// Counts the caller's calls that were stopped.
async function cancelled(client) {
  const records = (await client.readResource({ uri: 'jp://audit/recent' })).contents[0].text;
  return JSON.parse(records).filter((record) => record.outcome === 'cancelled').length;
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
  const heard = [];
  await call('test_tool_with_progress', {}, { onprogress: (progress) => heard.push(progress.progress) });
  check('hears of progress', heard.length >= 2, heard);
  const asked = await call('test_tool', { path: 'notes.txt', ask: true });
  check('answers a question', !asked.isError && asked.content[0].text.includes('second note'), asked);
  const large = await call('bash', { commands: 'seq 20000' });
  const link = large.content.find((part) => part.type === 'resource_link');
  const whole = await client.readResource({ uri: link.uri });
  check('reads a large result', whole.contents[0].text.includes('19999'), link);
  const before = await cancelled(client);
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 300);
  const stopped = await call('bash', { commands: 'sleep 25' }, { signal: stop.signal }).catch((error) => error);
  check('cancels a call', stopped instanceof Error, stopped);
  while ((await cancelled(client)) === before) await pause();
  check('which stops it', true);
  const again = await call('bash', { commands: 'echo again' });
  check('goes on after that', !again.isError, again);
  await client.close();
}

// Takes whatever a server answers.
const anything = { '~standard': { version: 1, vendor: 'jp', validate: (value) => ({ value }) } };

// Makes calls that become tasks. The SDK refuses such an answer to a call, so the id is taken from what its transport
// receives; it sends what there is to ask of a task.
async function talkOfTasks(transport) {
  const extensions = { 'io.modelcontextprotocol/tasks': {} };
  const client = new Client({ name: 'interop', version: '1' }, { capabilities: { extensions }, ...modern });
  await client.connect(transport);
  let accepted;
  const receive = transport.onmessage;
  transport.onmessage = (message, extra) => {
    if (message.result?.resultType === 'task') accepted = message.result.taskId;
    receive(message, extra);
  };
  const begin = async (commands) => {
    const refused = await client.callTool({ name: 'bash', arguments: { commands } }).catch((error) => error);
    check('is given a task', refused.data?.resultType === 'task' && accepted, refused);
    return accepted;
  };
  const ended = async (taskId) => {
    for (;;) {
      const task = await client.request({ method: 'tasks/get', params: { taskId } }, anything);
      if (task.status !== 'working') return task;
      await pause();
    }
  };
  const done = await ended(await begin('seq 3 | paste -sd+'));
  check('waits for a task', done.result.content[0].text.includes('1+2+3'), done);
  const taskId = await begin('sleep 25');
  await client.request({ method: 'tasks/cancel', params: { taskId } }, anything);
  const stopped = await ended(taskId);
  check('cancels a task', stopped.status === 'cancelled', stopped);
  await client.close();
}

function stdio() {
  return new StdioClientTransport({ command: jp, args: ['-C', workspace, 'serve'], env: process.env });
}

async function overHttp(talk) {
  const env = { ...process.env, JP_TOKEN: token };
  const line = ['-C', workspace, 'serve', '--http', '127.0.0.1:0'];
  const server = spawn(jp, line, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  const url = new URL((await lines.next()).value);
  const headers = { Authorization: `Bearer ${token}` };
  await talk(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  server.kill();
  const code = await new Promise((resolve) => server.on('exit', resolve));
  check('ends when it is told to', code === 0, code);
}

for (const [name, options] of [['handshake', {}], ['2026-07-28', modern]]) {
  console.log(`stdio, ${name}`);
  await talk(stdio(), options);
  console.log(`http, ${name}`);
  await overHttp((transport) => talk(transport, options));
}
console.log('stdio, tasks');
await talkOfTasks(stdio());
console.log('http, tasks');
await overHttp(talkOfTasks);
process.exit(0);
