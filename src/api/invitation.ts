/** The mail to a person whom somebody has added to a company. It has the address of the sign-in page, but no link that signs in. */

import { html } from 'hono/html';
import { type Actor, actorName } from '../contract/audit.js';
import { type Role, roles } from '../contract/credential.js';
import { roleWords } from '../contract/role-words.js';

export function invitation(actor: Actor, company: string, { email, role }: { email: string; role: Role }, api: string) {
  const by = actor.kind === 'person' ? actor.name : actorName(actor);
  const can = roles.slice(0, roles.indexOf(role) + 1).map((one) => `You ${roleWords[one]}.`);
  const first = `You can now sign in to the relay of ${company}. You were added by: ${by}.`;
  const second = `Your role is ${role}. ${can.join(' ')}`;
  const [page, next] = [`${api}/sign-in`, `There, enter your address ${email}. You then get a mail with a link.`];
  const last = `If you do not know ${company}, ignore this mail.`;
  const style = 'font-family:sans-serif;font-size:16px;line-height:1.5;max-width:600px';
  return {
    subject: `You can now sign in to the relay of ${company}`,
    text: `${first}\n\n${second}\n\nSign in: ${page}\n${next}\n\n${last}\n`,
    html: String(html`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Sign in</title></head>
<body style="${style}"><p>${first}</p><p>${second}</p><p><a href="${page}" style="font-size:20px">Sign in</a></p><p>${next}</p><p>${last}</p></body></html>`),
  };
}
