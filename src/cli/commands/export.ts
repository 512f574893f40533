/** `relay export`: writes all chains, events or audit entries of a company to a file. */

import { createWriteStream, renameSync, rmSync } from 'node:fs';
import { Writable } from 'node:stream';
import { Argument, Option } from '@commander-js/extra-typings';
import { path } from '../api.js';
import { type Commands, command, settingsOf, withFilter } from '../options.js';
import { UsageError } from '../terminal.js';

export const exports: Commands = (relay, session) => {
  const what = new Argument('<what>', 'what to export').choices(['chains', 'events', 'audit']);
  const summary = 'export all chains, events or audit entries of a company';
  withFilter(command(relay, 'export', 'chains acme --since 30d --format csv --out chains.csv', summary))
    .addArgument(what)
    .argument('<companyId>')
    .addOption(new Option('--format <format>', 'the format; default: ndjson').choices(['ndjson', 'csv', 'sheet']))
    .option('--status <status>', 'chains with this status', (status) => ({ status }))
    .option('--outcome <outcome>', 'events with this outcome: chain, not-applicable, refused', (outcome) => ({ outcome }))
    .option('--out <file>', 'the file to write; default: standard output')
    .description('If the export breaks off, the command writes no file, because rows would be missing.')
    .action(async (what, companyId, { format, out, ...filter }) => {
      const file = out === undefined ? undefined : createWriteStream(`${out}.part`, { mode: 0o600 });
      const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
      const print = new WritableStream<Uint8Array>({
        write: (bytes) => session.terminal.out(decoder.decode(bytes, { stream: true })),
      });
      const writer = (file ? Writable.toWeb(file) : print).getWriter();
      const asked = { query: { ...settingsOf(filter), format } };
      try {
        await session.api.download(path`/co/${companyId}/export/${what}`, asked, (bytes) => writer.write(bytes));
        await writer.close();
      } catch (error) {
        if (file) rmSync(file.path, { force: true });
        if (file?.errored) throw new UsageError(`${out} cannot be written: ${file.errored.message}`);
        throw error;
      }
      if (file === undefined || out === undefined) return;
      renameSync(file.path, out);
      session.note(`Written: ${out}`);
    });
};
