/** `relay rules pull|push|test`. They load their libraries only when they run, because loading would delay other commands. */

import type { Command } from '@commander-js/extra-typings';
import { command, yesOption } from '../options.js';
import type { Session } from '../session.js';
import { noteWords } from './rule-versions.js';

export function addFileCommands(rules: Command, session: Session): void {
  command(rules, 'pull <companyId> <folder>', 'acme rules', "write each rule's published version into a YAML file")
    .description('Comments in existing files stay. The command asks before it overwrites changes that are not published.')
    .addOption(yesOption)
    .action(async (companyId, folder, { yes }) => {
      const { pull } = await import('../rules/pull.js');
      await pull(session, companyId, folder, yes);
    });

  const publish = 'publish the rules in a folder, or in one YAML file';
  command(rules, 'push <companyId> <path>', 'acme rules --note "Wider radius"', publish)
    .description(
      'Shows the differences, tries the rules on 200 past events, then asks. A file without relayId gets the id of a new rule.',
    )
    .option('--draft', 'only save drafts, publish nothing')
    .option(...noteWords)
    .addOption(yesOption)
    .action(async (companyId, path, options) => {
      const { push } = await import('../rules/push.js');
      await push(session, companyId, path, options);
    });

  command(rules, 'test <path>', 'rules', 'check the rules in a folder, or in one YAML file, and run their cases')
    .description('Needs no relay. The exit code is 1 if a file has a mistake or a case fails.')
    .action(async (path) => {
      const { test } = await import('../rules/test.js');
      test(session, path);
    });
}
