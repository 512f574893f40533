/** The version of the relay, from package.json: the API, the command and outgoing requests show the same one. */

import packageJson from '../../package.json' with { type: 'json' };

export const { version } = packageJson;
