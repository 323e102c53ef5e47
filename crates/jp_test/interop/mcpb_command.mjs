// Prints the command that a client starts for an unpacked bundle, as JSON: the official package puts in what a person
// picked.
//
// Arguments: the directory of the bundle, and the directory that was picked.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getMcpConfigForManifest } from '@anthropic-ai/mcpb';

const [bundle, directory] = process.argv.slice(2);
const manifest = JSON.parse(readFileSync(join(bundle, 'manifest.json'), 'utf8'));
const config = await getMcpConfigForManifest({
  manifest,
  extensionPath: bundle,
  systemDirs: {},
  userConfig: { directory },
  pathSeparator: '/',
});
console.log(JSON.stringify([config.command, ...config.args]));
